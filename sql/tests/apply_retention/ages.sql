-- L2 and the table of retention: failed attempts 7 days, resolved dead letters 30, unresolved ones for ever
-- holds: L1, L2
select core.create_namespace('shop');
create function pg_temp.retention(p_limit integer = 10000) returns jsonb language sql security definer set search_path = pg_catalog, pg_temp as $$ select core_private.apply_retention(p_limit) $$;
alter function pg_temp.retention owner to nexus_owner; -- by hand nobody takes what is recorded
select core.emit_batch('shop', '{a,a}', '{1,2}');
select core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2}', '{1,1}', '{r,r}', '{e,e}');
select core.discard_dead_letter(1, 'no use');
update nexus_test.clock set shift = '6 days 23 h';
select is(pg_temp.retention() - 'nodes', '{"delivery_errors": 0, "expired": 0, "dead_letters": 0, "scheduled_events": 0, "audit_log": 0, "replays": 0, "abandoned_executions": 0, "trigger_drops": 0, "workflow_runs": 0}', 'nothing too early');
update nexus_test.clock set shift = '7 days 1 h';
select is(pg_temp.retention(1) -> 'delivery_errors', '2', 'the history goes after 7 days, in as many batches as it takes');
update nexus_test.clock set shift = '30 days 1 h';
select is(pg_temp.retention() -> 'dead_letters', '1', 'the resolved one after 30');
select is((select array_agg(dead_letter_id) from core.dead_letters), array[2]::bigint[], 'the unresolved one stays');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 1, 'and so does its copy');
update nexus_test.clock set shift = '399 days';
select is(pg_temp.retention() -> 'audit_log', '0', 'what people did stays longer');
update nexus_test.clock set shift = '3 years';
select is(pg_temp.retention() -> 'audit_log', '2', 'but not for ever: the discard, and the burial by hand');
select is(pg_temp.retention() -> 'dead_letters', '0', 'for ever');
select core.replay_events('shop', 'default', '{"type": "x"}'), core.replay_events('shop', 'default', '{"type": "x"}', '{"replay_id": "open"}');
update core_private.replays set finished_at = null where replay_id = 'open';
update nexus_test.clock set shift = '3 years 29 days';
select is(pg_temp.retention() -> 'replays', '0', 'a replay is kept for a while');
update nexus_test.clock set shift = '3 years 31 days';
select is(pg_temp.retention() -> 'replays', '1', 'and goes, but for one that has not ended');
