-- Broadcast: what a node has no handler for any more is not given to it, and does not wait for ever
-- holds: broadcast (handlers that go)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop', '{"keep_broadcasts": "2 days"}');
create function pg_temp.put(p_xid text, p_type text) returns bigint language sql as $$
  insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
  select 'shop', core_private.cluster_id(), p_xid::xid8, 7, '00000000-0000-0000-0000-000000000007', p_type, core.now(), jsonb_build_object('eventType', p_type, 'payload', 1, 'eventUid', '00000000-0000-0000-0000-000000000007')
  returning broadcast_id $$;
create temp table me (incarnation uuid);
insert into me values (null);
create function pg_temp.register(p_patterns text) returns void language sql as $$
  update core.nodes set state = 'stopped';
  update me set incarnation = (select r.incarnation from core_node.register_node('shop', 'n1', true, '{}', jsonb_build_object('broadcasts', p_patterns::text[])) r) $$;
create function pg_temp.claim() returns text language sql as $$
  select c.message ->> 'eventType' from me, core_private.broadcast_cursors b, core_node.claim_broadcast('n1', me.incarnation, rpad('1', 32, '0')::uuid, b.patterns, array_fill(0, array[cardinality(b.patterns)])) c $$;
create function pg_temp.settle(p_result jsonb) returns text language sql as $$
  select s.outcome from core_private.broadcast_cursors c, core_node.settle_broadcast('n1', c.holder, c.turn, p_result) s $$;
select pg_temp.register('{a,b}');
update core_private.broadcast_cursors set seen = '100:100:', top = 1000000000;
select pg_temp.put('110', 'a'), pg_temp.put('111', 'b');
select is(pg_temp.claim(), 'a', 'one'), is(pg_temp.settle('{"action": "reject"}'), 'buried', 'is given up');
select is(pg_temp.claim(), 'b', 'another'), is(pg_temp.settle('{"action": "retry", "after": "1 h", "reason": "error", "error": "no"}'), 'retried', 'waits');

-- a replay
select pg_temp.register('{b,c}');
select is((select not_replayable from core.preview_dead_letters('{"namespace": "shop"}')), 'node n1 has no handler for broadcasts of a', 'a preview says so');
select throws_like($$select core.replay_dead_letter(dead_letter_id) from core.dead_letters$$, '%cannot be replayed: node n1 has no handler for broadcasts of a', 'refused, with why');
select is((select (r.done, r.skipped)::text from core.replay_dead_letters('{"namespace": "shop"}', '{}') r), '(0,1)', 'left by a replay of many');
select is((select status from core.dead_letters), 'pending', 'and not resolved');
select is((select count(*)::int from core_private.broadcast_deliveries where replay_of is not null), 0, 'nothing waits');
select pg_temp.register('{a,c}');
select is((select core.replay_dead_letter(dead_letter_id) is not null from core.dead_letters), true, 'with a handler it can be');
select is(pg_temp.claim(), 'a', 'and comes'), is(pg_temp.settle('{}'), 'done', 'to its end');

-- what waits: b is due at 01:00
update nexus_test.clock set frozen = '2030-01-03 00:59:59Z';
select is(core_private.expire_broadcasts() -> 'buried', '0', 'what waits has the time that a node may be away');
update nexus_test.clock set frozen = '2030-01-03 01:00Z';
select pg_temp.register('{b}');
select is(core_private.expire_broadcasts() -> 'buried', '0', 'what has a handler is not touched');
select is(pg_temp.claim(), 'b', 'in hand');
select pg_temp.register('{a}');
select is(core_private.expire_broadcasts() -> 'buried', '0', 'nor is what a process has in hand');
update core_private.broadcast_cursors set taken_id = null, taken_xid = null;
insert into core_private.broadcast_deliveries (node_id, broadcast_id, namespace, event_type, message, due_at, failures) select d.node_id, -1, d.namespace, 'c', '{}', d.due_at + interval '1 s', 0 from core_private.broadcast_deliveries d;
select is(core_private.expire_broadcasts() -> 'buried', '1', 'then it is given up, and no other');
select is((select (consumer, source_kind, event_type, attempts, reason, last_error, first_attempt_at)::text from core.dead_letters where status = 'pending'), '(broadcast:n1,broadcast,b,1,"No handler for event b","No handler for event b","2030-01-01 00:00:00+00")', 'as what is parked, with the attempts it had');
select is((select array_agg(event_type) from core_private.broadcast_deliveries), '{c}', 'the rest stays');
-- without handlers at all, and bounded
insert into core_private.broadcast_deliveries (node_id, broadcast_id, namespace, event_type, message, due_at) select 'n1', -2 - i, 'shop', 'd', '{}', '2030-01-01' from generate_series(1, 3) i;
select core_node.heartbeat('n1', me.incarnation, 'stopped') from me;
select core_node.register_node('shop', 'n1', true, '{}', '{}');
select is(core_private.give_up_broadcasts(2), 2, 'no more than is said');
select is(core_private.give_up_broadcasts(2), 1, 'the rest with the next one');
select is((select array_agg(distinct attempts) from core.dead_letters where event_type = 'd'), '{0}', 'of which none was tried');
