-- S12: what somebody did to the jobs of Nexus in pg_cron is found, and mended or named.
-- holds: S12-cron, others-gone-tasks, others-restore (a copy that fires)
create temporary table has as select exists (select from pg_extension where extname = 'pg_cron') as cron;
create function pg_temp.harm(p_sql text) returns void language plpgsql as $$ begin if (select cron from has) then execute p_sql; end if; end $$;
create function pg_temp.drift() returns text language sql as $$
  select string_agg(concat_ws(' ', d.kind, coalesce(t.name, split_part(d.jobname, ':', 2)), d.detail), '; ' order by d.kind, d.jobname, d.detail)
    from core.cron_drift() d left join core.scheduled_tasks t using (task_id) $$;
create function pg_temp.repaired() returns text language sql as $$ select string_agg(distinct r.kind || ' ' || r.done, ', ' order by r.kind || ' ' || r.done) from core.repair_cron() r $$;
create function pg_temp.id(p_task text) returns bigint language sql as $$ select job_id from core.scheduled_tasks where name = p_task $$;
create function pg_temp.job(p_task text) returns text language sql as $$ select string_agg(format('%s %s %s %s', j.schedule, j.active, j.database = current_database(), j.jobid = t.job_id), ', ')
  from core.cron_jobs j join core.scheduled_tasks t using (task_id) where t.name = p_task $$;
create function pg_temp.expect(p_text text) returns text language sql as $$ select case when cron then p_text end from has $$;
select core.create_namespace('shop'), core.create_namespace('vault', '{"restricted": true}');
select core.schedule_task('shop', 'a', '5 3 * * 1', 'x'), core.schedule_task('shop', 'b', '5 4 * * *', 'x', '{}', '{"timezone": "Europe/Berlin"}'), core.schedule_task('vault', 'v', '@daily', 'x');
-- A copy of pg_cron's database has its jobs too, which run there: that cannot be mended here.
select is((select string_agg(distinct kind || ' ' || done || ': ' || right(detail, 18), ', ') from core.repair_cron()), pg_temp.expect('wrong_database named only: nothing fires here'), 'where pg_cron does not fire');
-- From here on it fires here: what a restore under another name leaves.
create function public.here() returns trigger language plpgsql as $$ begin new.database := current_database(); return new; end $$;
select pg_temp.harm('create trigger here before insert on cron.job for each row when (new.database is distinct from ''elsewhere'') execute function public.here()');
select is(pg_temp.repaired(), pg_temp.expect('wrong_database mended'), 'jobs that run in another database are made anew');
select is(pg_temp.drift(), null, 'and nothing is amiss');
select is(core.sync_cron_jobs(), case when cron then '[]' else '"no pg_cron"' end::jsonb, 'nor done') from has;
-- missing
select pg_temp.harm(format('select cron.unschedule(%s)', pg_temp.id('a'))) from has where cron;
select pg_temp.harm($$delete from cron.job where jobname = 'nexus:tick'$$);
select is(pg_temp.drift(), pg_temp.expect('missing tick pg_cron has no such job; missing a pg_cron has no such job'), 'missing');
select is(pg_temp.repaired(), pg_temp.expect('missing mended'), 'made anew');
select is(pg_temp.job('a'), pg_temp.expect('5 3 * * 1 t t t'), 'with its id in the task');
select is(pg_temp.drift(), null, 'and all is well');
-- altered, deactivated
select pg_temp.harm($$update cron.job set schedule = '* * * * *', command = 'select 1' where jobid = pg_temp.id('a')$$);
select pg_temp.harm($$update cron.job set active = false, nodeport = 1 where jobid = pg_temp.id('b')$$);
select pg_temp.harm($$update cron.job set active = false where jobname = 'nexus:retention'$$);
select is(pg_temp.drift(), pg_temp.expect(format('altered a its schedule is * * * * *, not 5 3 * * 1, its command is select 1, not SELECT core.run_scheduled_task(%L); deactivated retention it is switched off; deactivated b it is switched off, it connects to port 1, not %s',
  (select task_id from core.scheduled_tasks where name = 'a'), current_setting('port'))), 'altered, deactivated');
select is(pg_temp.repaired(), pg_temp.expect('altered mended, deactivated mended'), 'mended');
select is(pg_temp.job('a') || pg_temp.job('b'), pg_temp.expect('5 3 * * 1 t t t5 * * * * t t t'), 'as they are meant to be');
select is(pg_temp.drift(), null, 'and all is well');
-- duplicated: names are unique, what they do is not
select pg_temp.harm(format($$set local role nexus_scheduler; select cron.schedule('again', '* * * * *', %L), cron.schedule('* * * * *', 'SELECT  core.tick();'), cron.schedule('mine', '* * * * *', 'select 1'); reset role$$,
  (select format('SELECT core.run_scheduled_task(%L)', task_id) from core.scheduled_tasks where name = 'a')));
select is(pg_temp.drift(), pg_temp.expect('duplicated a the task has another job; duplicated it does what nexus:tick does'), 'duplicated');
select is(pg_temp.repaired(), pg_temp.expect('duplicated mended'), 'removed');
select is(pg_temp.drift(), null, 'and all is well');
select is((select count(*)::int from core.cron_jobs where jobname = 'mine'), case when cron then 1 else 0 end, 'what is not Nexus''s is left alone') from has;
-- orphaned
select pg_temp.harm($$set local role nexus_scheduler; select cron.schedule('shop:0123456789abcdef0123456789abcdef', '* * * * *', 'select 1'), cron.schedule('nexus:old', '* * * * *', 'select core.run_sweep(''old'')'), cron.schedule('nexus:report', '* * * * *', 'select score.of(1)'); reset role$$);
select is(pg_temp.drift(), pg_temp.expect('orphaned old Nexus has no such job; orphaned 0123456789abcdef0123456789abcdef its task is gone'), 'orphaned, but not by its name alone');
select is(pg_temp.repaired(), pg_temp.expect('orphaned mended, orphaned named only'), 'the task''s is removed, what may be somebody''s is not');
select is((select count(*)::int from core.cron_jobs where jobname = 'nexus:report'), case when cron then 1 else 0 end, 'and what is somebody''s is left alone, whatever its name') from has;
select pg_temp.harm($$delete from cron.job where jobname in ('nexus:old', 'nexus:report')$$);
create temporary table a as select * from core.scheduled_tasks where name = 'a';
update core.scheduled_tasks set active = false where name = 'a';
select pg_temp.harm(format($$set local role nexus_scheduler; select cron.schedule('shop:%s', '* * * * *', 'SELECT core.run_scheduled_task(''%s'')'); reset role$$, replace(task_id::text, '-', ''), task_id)) from a;
select is(pg_temp.drift(), pg_temp.expect('orphaned a its task is paused'), 'a paused task has no job');
select is(pg_temp.repaired() || coalesce(pg_temp.drift(), ''), pg_temp.expect('orphaned mended'), 'nor keeps one');
update core.scheduled_tasks set job_id = 123456 where name = 'a';
select is(pg_temp.drift(), pg_temp.expect('orphaned a job_id of the task is 123456, and it has no job'), 'an id of a job that is gone');
select is(pg_temp.repaired() || coalesce(pg_temp.drift(), ''), pg_temp.expect('orphaned mended'), 'is forgotten');
select is(pg_temp.id('a'), case when not cron then 123456 end::bigint, 'in the task') from has;
-- ids that a restore mixed up
select pg_temp.harm($$update core.scheduled_tasks set job_id = pg_temp.id('v') where name = 'b'$$);
select is(pg_temp.repaired() || coalesce(pg_temp.drift(), ''), pg_temp.expect('altered mended'), 'the id of another''s job');
select is(pg_temp.job('b') || pg_temp.job('v'), pg_temp.expect('5 * * * * t t t0 0 * * * t t t'), 'which keeps it');
-- pg_cron came late, or a place became free
update core_private.cron_slots set task_id = null; update core.scheduled_tasks set active = true where name = 'a';
select pg_temp.harm($$delete from cron.job where username = 'nexus_scheduler'$$);
select is(pg_temp.repaired(), pg_temp.expect('missing mended'), 'all are gone');
select is((select count(*)::int from core.cron_jobs), case when cron then 8 else 0 end, 'all are back') from has;
-- a task somebody holds is left to him; others' jobs are named
create role t_owner; create role t_gone;
select pg_temp.harm($$insert into cron.job (schedule, command, database, username, jobname) values
  ('* * * * *', 'select core.tick()', current_database(), 't_owner', 'tick'), ('* * * * *', 'select 1', current_database(), 't_gone', 'nexus:tick'),
  ('* * * * *', 'select core.tick()', 'elsewhere', 't_owner', 'other'), ('0 3 * * *', 'select public.my_report()', current_database(), 't_owner', 'nexus:report')$$);
drop role t_gone;
select matches(coalesce(pg_temp.drift(), 'none'), case when cron then '^foreign_owner tick it belongs to t_gone, a role that does not exist, which stops every job of this server: select cron.unschedule\(\d+\);; foreign_owner  it belongs to t_owner: select cron.unschedule\(\d+\);$' else '^none$' end, 'owned by other roles') from has;
select is(pg_temp.repaired(), pg_temp.expect('foreign_owner named only'), 'named, not touched');
select isnt(pg_temp.drift(), case when cron then null else '' end, 'and still there') from has;
-- who sees what
create role t_reader in role nexus_reader; create role t_admin in role nexus_admin;
grant usage on schema tap to public; grant execute on all functions in schema tap to public; grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
select pg_temp.harm($$delete from cron.job where jobid in (pg_temp.id('v'), pg_temp.id('b'))$$);
select pg_temp.harm('grant usage on schema cron to t_admin');
set local role t_reader;
select is((select string_agg(concat_ws(' ', kind, namespace), ', ' order by kind) from core.cron_drift()), pg_temp.expect('missing shop, not_visible'), 'a reader hears of what he may see, and that he may not see all');
select throws_ok('select core.repair_cron()', '42501', null, 'and mends nothing');
set local role t_admin;
select is(pg_temp.repaired(), pg_temp.expect('missing mended, not_visible named only'), 'an administrator mends');
reset role;
select pg_temp.harm('revoke usage on schema cron from nexus_scheduler, public');
select alike(coalesce(pg_temp.drift(), 'none'), case when cron then '%not_visible nexus_scheduler may not use pg_cron%' else 'none' end, 'no right, nothing to see') from has;
select is((select count(*)::int from core.cron_drift() where kind = 'missing'), 0, 'and nothing is said to be missing');
-- no pg_cron
select pg_temp.harm('drop extension pg_cron cascade');
select is((select count(*)::int from core.cron_drift()) + (select count(*)::int from core.repair_cron()) + (select count(*)::int from core.cron_drift), 0, 'no pg_cron: empty');
select is(core.sync_cron_jobs(), '"no pg_cron"', 'and the sweep says so');
