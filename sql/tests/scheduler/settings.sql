-- S5, S13: who drives is a setting; what is driven is the same.
-- holds: S13
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select results_eq($$select scheduler, max_cron_jobs, keep_slots from core.scheduler_status$$, $$values ('auto', 20, '7 days'::interval)$$, 'as installed');
select throws_ok(format('select core.alter_scheduler(%L)', o), code, null, o) from (values ('{"scheduler": "cron"}', 'NX005'), ('{"max_cron_jobs": 1.5}', 'NX005'), ('{"keep_slots": "1 minute"}', 'NX005'), ('{"x": 1}', 'NX004')) v(o, code);
select core.schedule_task('shop', 'minute', '* * * * *', 'x');
select core.alter_scheduler('{"scheduler": "pg_cron"}');
update nexus_test.clock set frozen = '2026-12-01 12:01:30Z';
select results_eq($$select * from core_node.fire_due()$$, $$values (0, '2026-12-01 12:02:30Z'::timestamptz)$$, 'pg_cron: nodes leave it what is fresh');
select is(core_private.fire_tasks(10), 0, 'also in their ticks');
update nexus_test.clock set frozen = '2026-12-01 12:02:31Z';
select is((select fired from core_node.fire_due()), 2, 'and step in when it is overdue');
select core.alter_scheduler('{"scheduler": "nodes", "keep_slots": "30 days"}');
update nexus_test.clock set frozen = '2026-12-01 12:03:00Z';
select results_eq($$select * from core_node.fire_due()$$, $$values (1, '2026-12-01 12:04Z'::timestamptz)$$, 'nodes: at once');
select is((select core.tick() -> 'ran' @> '[{"sweep": "tasks"}]'), true, 'the tick fires as well');
select is((select scheduler || keep_slots from core.scheduler_status), 'nodes30 days', 'only what is given changes');
select is((select tick_age from core.scheduler_status), '0'::interval, 'when due tasks were last looked for');
select throws_ok($$select core_node.fire_due(0)$$, 'NX006', null, 'limit');
grant usage on schema tap to nexus_operator; grant execute on all functions in schema tap to nexus_operator; grant all on all tables in schema pg_temp to nexus_operator; grant all on all sequences in schema pg_temp to nexus_operator;
set local role nexus_operator;
select throws_ok($$select core.alter_scheduler('{}')$$, '42501', null, 'for admins');
