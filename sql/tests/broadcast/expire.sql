-- Broadcast: removed by age, and what that takes from a node is counted
-- holds: broadcast (age)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop'), core.create_namespace('mall', '{"keep_broadcasts": "3 days"}');
create function pg_temp.put(p_xid text, p_type text, p_namespace text, p_age interval) returns bigint language sql as $$
  insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
  values (p_namespace, core_private.cluster_id(), p_xid::xid8, 7, gen_random_uuid(), p_type, core.now() - p_age, jsonb_build_object('eventType', p_type))
  returning broadcast_id $$;
select core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a.*"]}'), core_node.register_node('mall', 'm1', true, '{}', '{"broadcasts": ["a.*"]}');
update core_private.broadcast_cursors set seen = '100:100:', top = 1000000000;
select pg_temp.put(x, 'a.x', s, a::interval) from (values ('99', 'shop', '25 h'), ('110', 'shop', '24 h'), ('111', 'shop', '23 h 59 min'), ('110', 'mall', '2 days 23 h'), ('111', 'mall', '3 days 1 h')) v (x, s, a);
select pg_temp.put('112', 'c', 'shop', '30 h'), pg_temp.put('113', 'a.x', 'gone', '1 s');
select is(core_private.expire_broadcasts(1), '{"removed": 5, "missed": 2, "buried": 0}', 'what is older than its namespace keeps it');
select is((select array_agg(namespace || ' ' || xid::text order by namespace, xid) from core.broadcasts), '{"mall 110","shop 111"}', 'the rest stays');
select is((select array_agg((node_id, missed, missed_at)::text order by node_id) from core.broadcast_cursors), '{"(m1,1,\"2030-01-01 00:00:00+00\")","(n1,1,\"2030-01-01 00:00:00+00\")"}', 'a node is told what it has missed, of what it handles and had not read');
select is(core_private.expire_broadcasts(), '{"removed": 0, "missed": 0, "buried": 0}', 'once');
-- what waits for another attempt stays
update core_private.broadcast_cursors c set holder = rpad('1', 32, '0')::uuid, turn = 1, target = '120:120:', taken_xid = '111', taken_id = (select broadcast_id from core.broadcasts b where b.namespace = 'shop') where node_id = 'n1';
select is((select s.outcome from core_node.settle_broadcast('n1', rpad('1', 32, '0')::uuid, 1, '{"action": "retry", "after": "2 days"}') s), 'retried', 'for two days');
update nexus_test.clock set frozen = '2030-01-03 00:00Z';
select is(core_private.expire_broadcasts() -> 'missed', '1', 'the other node misses its own');
select is((select missed::int from core.broadcast_cursors where node_id = 'n1'), 1, 'this one does not: it has been given that');
select is((select (c.outcome, c.attempt, c.message ->> 'eventType')::text from core.nodes n, core_node.claim_broadcast('n1', n.incarnation, rpad('1', 32, '0')::uuid, '{a.*}', '{0}') c where n.node_id = 'n1'), '(claimed,2,a.x)', 'and gets it again');
-- the option
select throws_ok(format('select core.alter_namespace(''shop'', %L)', o), 'NX005', null, o) from unnest('{"{\"keep_broadcasts\": \"59 s\"}","{\"keep_broadcasts\": \"31 days\"}","{\"keep_broadcasts\": 5}"}'::text[]) o;
select core.alter_namespace('shop', '{"keep_broadcasts": "2 h"}');
select is((select keep_broadcasts from core.namespaces where namespace = 'shop'), '2 h', 'altered');
select throws_ok($$select core.create_namespace('shop', '{"keep_broadcasts": "1 day"}')$$, 'NX201', null, 'what differs is named');
select is(core.create_namespace('shop', '{"keep_broadcasts": "120 min"}'), false, 'the same is the same');
select is(core.create_namespace('fair'), true, 'another one');
select is((select keep_broadcasts from core.namespaces where namespace = 'fair'), '1 day', 'has the default');
