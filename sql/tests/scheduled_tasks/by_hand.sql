-- S6, S11: plain statements are checked as calls are, and take effect at once.
-- holds: S6, S11, others-gone-tasks
select core.create_namespace('shop'), core.create_namespace('vault', '{"restricted": true}');
create role tap_op in role nexus_operator; create role tap_reader in role nexus_reader;
grant usage on schema tap to tap_op, tap_reader; grant execute on all functions in schema tap to tap_op, tap_reader;
grant all on all tables in schema pg_temp to tap_op, tap_reader; grant all on all sequences in schema pg_temp to tap_op, tap_reader;
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
set local role tap_op;
insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, registered_by, next_run_at, spec, failures)
values ('shop', 'a', '@daily', 'x', 'postgres', '-infinity', '{}', 7);
select results_eq($$select cron_expression, registered_by, next_run_at, failures, overlap from core.scheduled_tasks$$,
  $$values ('0 0 * * *', 'tap_op', '2026-12-02 00:00Z'::timestamptz, 0, 'allow')$$, 'what is not for people is set');
select throws_ok(format('insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, starts_at) values (''shop'', ''far'', ''@daily'', ''x'', %L)', t), 'NX013', null, 'starts_at ' || t)
  from unnest('{infinity,294276-12-31,1969-12-31}'::text[]) t;
select throws_ok($$insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, ends_at) values ('shop', 'far', '@daily', 'x', '294276-12-31')$$, 'NX013', null, 'ends_at');
select throws_ok($$insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('vault', 'a', '@daily', 'x')$$, 'NX402', null, 'a namespace that is not his');
select throws_ok($$insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('shop', 'b', '* * * * * *', 'x')$$, 'NX011', null, 'an expression that is none');
select throws_ok($$update core.scheduled_tasks set namespace = 'vault'$$, 'NX402', null, 'nor can it be moved there');
select throws_ok($$update core.scheduled_tasks set registered_by = 'postgres'$$, '42501', null, 'registered_by cannot be written');
select throws_ok($$update core.scheduled_tasks set next_run_at = now()$$, '42501', null, 'nor next_run_at');
select throws_ok($$truncate core.scheduled_tasks$$, '42501', null, 'TRUNCATE');
update core.scheduled_tasks set cron_expression = '1 * * * *', timezone = 'europe/berlin' where name = 'a';
select results_eq($$select timezone, next_run_at from core.scheduled_tasks$$, $$values ('Europe/Berlin', '2026-12-01 12:01Z'::timestamptz)$$, 'a change is compiled at once');
set local role tap_reader;
select throws_ok($$delete from core.scheduled_tasks$$, '42501', null, 'readers delete nothing');
reset role;
select throws_ok($$truncate core.scheduled_tasks cascade$$, 'NX013', null, 'TRUNCATE by a superuser');
-- due at 12:01, dropped before anyone fired it
update nexus_test.clock set frozen = '2026-12-01 12:01:10Z';
update core.scheduled_tasks set payload = '{"kept": 1}';
select is((select next_slot from core.scheduled_tasks), '2026-12-01 12:01Z', 'a payload edit keeps the slot that is due');
update core.scheduled_tasks set active = false;
select is(core_private.fire_tasks(100), 0, 'paused: nothing fires');
select results_eq($$select slot, status, reason, until from core.task_slots$$, $$values ('2026-12-01 12:01Z'::timestamptz, 'skipped', 'paused', null::timestamptz)$$, 'the slot is recorded');
update nexus_test.clock set frozen = '2026-12-01 15:00Z';
update core.scheduled_tasks set active = true;
select is(core_private.fire_tasks(100), 0, 'what came in the pause is not caught up');
update nexus_test.clock set frozen = '2026-12-01 17:30Z';
update core.scheduled_tasks set cron_expression = '0 5 * * *';
select results_eq($$select slot, status, reason, until from core.task_slots order by slot offset 1$$,
  $$values ('2026-12-01 15:01Z'::timestamptz, 'skipped', 'edited', '2026-12-01 17:30Z'::timestamptz)$$, 'several that an edit drops are one row');
update nexus_test.clock set frozen = '2026-12-02 04:00:10Z';
select is((select next_slot from core.scheduled_tasks), '2026-12-02 04:00Z', 'five in Berlin');
delete from core.scheduled_tasks;
select is(core_private.fire_tasks(100), 0, 'deleted: nothing fires');
select is((select status || reason from core.task_slots where slot = '2026-12-02 04:00Z'), 'skippeddeleted', 'and it is recorded');
select is((select count(*)::int from core.event_log), 0, 'no event came of all that');
-- rename: under its new name, not under the old one
insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('shop', 'old', '* * * * *', 'x');
update core.scheduled_tasks set name = 'new';
update nexus_test.clock set frozen = '2026-12-02 04:01:00Z';
select is(core_private.fire_tasks(100), 1, 'a rename keeps the slot');
select lives_ok($$select core.drop_namespace('shop', 'shop', true)$$, 'a namespace goes with its tasks');
select is((select count(*)::int from core.scheduled_tasks), 0, 'all of them');
