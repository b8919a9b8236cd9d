-- S2: a task that cannot be fired holds up nobody; it comes again after a while, alone.
-- holds: S2
select core.create_namespace('shop'), core.create_namespace('broken'), core.create_namespace('vault', '{"restricted": true}');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', 'task ' || g, '* * * * *', 'x') from generate_series(1, 20) g;
select core.schedule_task('broken', 'task ' || g, '* * * * *', 'x') from generate_series(1, 5) g;
select core.schedule_task('vault', 'task', '* * * * *', 'x');
-- one bad task among good ones, one namespace without its queue, one whose registrar lost the right
create function pg_temp.fail_one() returns trigger language plpgsql as $$ begin if new.payload ? 'bad' then raise exception 'bad luck'; end if; return new; end $$;
create trigger fail_one before insert on core.event_log for each row execute function pg_temp.fail_one();
update core.scheduled_tasks set payload = '{"bad": 1}' where namespace = 'shop' and name = 'task 7';
drop table pgmq.q_core_events_broken;
create role tap_left in role nexus_producer; select core.grant_namespace('vault', 'tap_left', 'produce');
update core.scheduled_tasks set registered_by = 'tap_left', job_id = null where namespace = 'vault';
select core.revoke_namespace('vault', 'tap_left', 'produce');
update nexus_test.clock set frozen = '2026-12-01 12:01:00Z';
select is(core_private.fire_tasks(100), 19, 'all the others fired');
select results_eq($$select namespace, name, failures, left(last_error, 5), next_run_at from core.scheduled_tasks where failures > 0 order by namespace, name$$,
  $$values ('broken', 'task 1', 1, 'NX110', '2026-12-01 12:02Z'::timestamptz), ('broken', 'task 2', 1, 'NX110', '2026-12-01 12:02Z'), ('broken', 'task 3', 1, 'NX110', '2026-12-01 12:02Z'),
           ('broken', 'task 4', 1, 'NX110', '2026-12-01 12:02Z'), ('broken', 'task 5', 1, 'NX110', '2026-12-01 12:02Z'), ('shop', 'task 7', 1, 'P0001', '2026-12-01 12:02Z'), ('vault', 'task', 1, 'NX401', '2026-12-01 12:02Z')$$, 'each says why');
select is((select count(*)::int from core.task_slots), 19, 'the ledger has what fired only');
update nexus_test.clock set frozen = '2026-12-01 12:02:00Z';
select core_private.fire_tasks(100);
select is((select array_agg(distinct failures || ' ' || next_run_at) from core.scheduled_tasks where failures > 0), array['2 2026-12-01 12:04:00+00'], 'later each time');
drop trigger fail_one on core.event_log;
select core.grant_namespace('vault', 'tap_left', 'produce');
update nexus_test.clock set frozen = '2026-12-01 12:04:00Z';
select is(core_private.fire_tasks(100), 19 * 2 + 3 + 3, 'mended: what is late fires');
select is((select failures || coalesce(last_error, ' none') from core.scheduled_tasks where name = 'task 7' and namespace = 'shop'), '0 none', 'and the failure is forgotten');
select is((select string_agg(to_char(slot at time zone 'UTC', 'MI'), ' ' order by slot) from core.task_slots join core.scheduled_tasks t using (task_id) where t.namespace = 'vault' and status = 'fired'), '02 03 04', 'within misfire_after');
drop role tap_left;
update nexus_test.clock set frozen = '2026-12-01 12:05:00Z';
select core_private.fire_tasks(100);
select matches((select last_error from core.scheduled_tasks where namespace = 'vault'), 'NX401 role .tap_left., which registered the task, is gone', 'a registrar that is gone');
-- what passes by itself is no fault of the task
create function pg_temp.lose() returns trigger language plpgsql as $$ begin raise exception using errcode = '40P01', message = 'deadlock'; end $$;
create trigger lose before insert on core.event_log for each row execute function pg_temp.lose();
update nexus_test.clock set frozen = '2026-12-01 12:07:00Z';
select throws_ok($$select core_private.fire_tasks(100)$$, '40P01', null, 'transient errors are raised');
select is((select count(*)::int from core.scheduled_tasks where namespace = 'shop' and failures > 0), 0, 'and counted nowhere');
