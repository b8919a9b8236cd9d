-- DL4: what nobody resolves ends where the namespace says so, and is removed like the others
-- holds: DL4
select core.create_namespace('shop', '{"expire_unresolved": "10 days"}'), core.create_namespace('mall'), core.create_namespace('fair', '{"expire_unresolved": "off"}');
select is((select string_agg(concat_ws(' ', namespace, expire_unresolved), ', ' order by namespace) from core.namespaces), 'fair, mall, shop 10 days', 'stored');
select throws_ok(format('select core.alter_namespace(''shop'', %L)', o), 'NX005', null, o) from unnest(array['{"expire_unresolved": "59 min"}', '{"expire_unresolved": 5}', '{"expire_unresolved": "on"}', '{"expire_unresolved": null}']) o;
select is(core.create_namespace('shop', '{"expire_unresolved": "240 h"}'), false, 'the same is the same');
select throws_like($$select core.create_namespace('shop', '{"expire_unresolved": "off"}')$$, '%expire_unresolved is 10 days, given off', 'what differs is named');
select throws_like($$select core.create_namespace('mall', '{"expire_unresolved": "1 day"}')$$, '%expire_unresolved is off, given 1 day', 'off differs too');
select core.alter_namespace('shop', '{"dedupe_for": "1 day"}');
select is((select expire_unresolved from core.namespaces where namespace = 'shop'), '10 days', 'what is left out stays');
insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, attempts, failed_at, reason)
select n, 'default', 'a', 'delivery', to_jsonb(n || g), '1', 1, core.now() + g * interval '1 day', 'r' from unnest('{fair,mall,shop}'::text[]) n, generate_series(1, 5) g order by n, g;
create function pg_temp.left_over() returns text language sql as $$ select string_agg(dead_letter_id || coalesce(' ' || resolution, ''), ', ' order by dead_letter_id) from core.dead_letters where namespace = 'shop' $$;
update nexus_test.clock set shift = '10 days 23 h';
select is(core_private.apply_retention() -> 'expired', '0', 'nothing too early');
update nexus_test.clock set shift = '13 days 1 h';
create temporary table c as select * from core.claim_dead_letters('{"ids": [12]}', '1 h');
select is(core_private.apply_retention(1) -> 'expired', '2', 'in as many batches as it takes, but for what somebody holds');
select is(pg_temp.left_over(), '11 expired, 12, 13 expired, 14, 15', 'the old ones');
select is((select string_agg(distinct concat_ws(' ', action, namespace, reason), ', ') from core.audit_log where action = 'expire_dead_letters'), 'expire_dead_letters shop older than 10 days', 'is recorded');
update nexus_test.clock set shift = '13 days 3 h';
select is(core_private.apply_retention() -> 'expired', '1', 'and it, when its time is over');
update nexus_test.clock set shift = '43 days 2 h';
select is(core_private.apply_retention() - '{nodes,audit_log,delivery_errors,replays,scheduled_events,abandoned_executions,workflow_runs}'::text[], '{"expired": 2, "dead_letters": 2, "trigger_drops": 0}', 'resolved ones go 30 days later');
select is(pg_temp.left_over(), '12 expired, 14 expired, 15 expired', 'each in its time');
select core.alter_namespace('shop', '{"expire_unresolved": "off"}');
select is((select count(*)::int from core.namespaces where expire_unresolved is not null), 0, 'off again');
select is((select count(*)::int from core.dead_letters where namespace <> 'shop' and resolved_at is null), 10, 'others keep theirs for ever');
