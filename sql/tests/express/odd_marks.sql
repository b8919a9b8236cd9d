-- I5: a mark with a number that no transaction has stops nobody, whether it is refused or there already
-- holds: I5-odd-mark
select core.create_namespace('shop'), core.create_namespace('other');
select throws_ok(format('select core_node.open_express(''core_events_shop'', ''n'', %s, ''{1}'')', k), 'NX006', null, 'no transaction has the number ' || k)
  from unnest('{-9223372036854775808,-1,0,2}'::bigint[]) k;
insert into core_private.express_batches (queue_name, xact_id, node_id, lowest, highest, opened_at)
select q, k, 'n', 1, 1, core.now() from unnest('{core_events_shop,core_events_other}'::text[]) q, unnest('{-9223372036854775808,-1,0,2}'::bigint[]) k;
select is((select leases from core_node.open_express('core_events_shop', 'n', 1::bigint << 60, '{5}')), false, 'what is there is of another server, and may live');
select is((select core_private.sweep_express()), 0::bigint, 'the sweep goes by the time');
update nexus_test.clock set shift = '15 min 1 s';
select is((select core_private.sweep_express()), 9::bigint, 'which ends');
