-- The preview is what fires, within the bounds of the task; readers see it where they may.
-- holds: others-dst (the preview)
select core.create_namespace('shop'), core.create_namespace('vault', '{"restricted": true}');
create role tap_reader in role nexus_reader; grant usage on schema tap to tap_reader; grant execute on all functions in schema tap to tap_reader; grant all on all tables in schema pg_temp to tap_reader; grant all on all sequences in schema pg_temp to tap_reader;
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
create temporary table t as
select core.schedule_task('shop', 'a', '0 * * * *', 'x', '{}', '{"starts_at": "2026-12-01T14:00:00Z", "ends_at": "2026-12-01T16:00:00Z", "active": false}') as a,
       core.schedule_task('shop', 'b', '@every 90s', 'x') as b, core.schedule_task('vault', 'c', '@daily', 'x') as c;
grant select on t to tap_reader;
set local role tap_reader;
select results_eq($$select r from t, core.next_runs(t.a) r$$, $$values ('2026-12-01 14:00Z'::timestamptz), ('2026-12-01 15:00Z'), ('2026-12-01 16:00Z')$$, 'within the bounds');
select results_eq($$select r from t, core.next_runs(t.b, '2026-12-01 13:00:00Z', 2) r$$, $$values ('2026-12-01 13:00:30Z'::timestamptz), ('2026-12-01 13:02:00Z')$$, 'an interval counts from the creation');
select throws_ok($$select core.next_runs(c) from t$$, 'NX108', null, 'a task that is hidden');
select throws_ok($$select core.next_runs(b, null, 0) from t$$, 'NX006', null, 'none');
