-- Broadcast: what a node has in hand is not removed by its age; where it is gone nevertheless, that is counted
-- holds: broadcast (age, in hand)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop');
create function pg_temp.put(p_xid text) returns bigint language sql as $$
  insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
  values ('shop', core_private.cluster_id(), p_xid::xid8, 7, gen_random_uuid(), 'a', core.now(), '{"eventType": "a"}');
  update core_private.broadcast_cursors set top = 1000000000 returning top -- as if it was there when the snapshot was taken
  $$;
create temp table me as select r.* from core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a"]}') r;
create function pg_temp.claim(p_holder text = '1') returns setof text language sql as $$
  select c.outcome || ' ' || c.attempt from me, core_node.claim_broadcast('n1', me.incarnation, rpad(p_holder, 32, '0')::uuid, '{a}', '{0}') c $$;
create function pg_temp.settle(p_result jsonb, p_holder text = '1') returns text language sql as $$
  select s.outcome from core_private.broadcast_cursors c, core_node.settle_broadcast('n1', rpad(p_holder, 32, '0')::uuid, c.turn, p_result) s $$;
create function pg_temp.missed() returns text language sql as $$ select missed || coalesce(' ' || core_private.iso(missed_at), '') from core.broadcast_cursors $$;
update core_private.broadcast_cursors set seen = '100:100:';
select pg_temp.put('110'), pg_temp.put('111');
select is(pg_temp.claim(), 'claimed 1', 'in hand');
update nexus_test.clock set frozen = '2030-01-03 00:00Z';
select is(core_private.expire_broadcasts(), '{"removed": 1, "missed": 1, "buried": 0}', 'that stays, the other goes');
select is(pg_temp.settle('{"action": "retry", "after": "0 s", "error": "no"}'), 'retried', 'it fails');
select is(core_private.expire_broadcasts() ->> 'removed', '1', 'what has a copy may go');
select is(pg_temp.claim(), 'claimed 2', 'and is tried again');
insert into core.broadcasts (broadcast_id, namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message) overriding system value
select c.taken_id, 'shop', c.cluster, '110', 7, gen_random_uuid(), 'a', core.now() - interval '2 days', '{}' from core_private.broadcast_cursors c;
select is(core_private.expire_broadcasts() ->> 'removed', '1', 'of a copy in hand nothing else stays');
select is(pg_temp.settle('{}'), 'done', 'done');
select is(pg_temp.missed(), '1 2030-01-03T00:00:00.000000Z', 'one was missed');
-- in hand again
update core_private.broadcast_cursors set seen = '115:115:', target = null, at_xid = '0', at_id = 0;
select pg_temp.put('120');
select is(pg_temp.claim(), 'claimed 1', 'in hand again');
-- gone nevertheless
delete from core.broadcasts;
update nexus_test.clock set frozen = '2030-01-03 01:00Z';
select is(pg_temp.settle('{"action": "retry", "after": "1 s"}'), 'gone', 'what fails then');
select is(pg_temp.missed(), '2 2030-01-03T01:00:00.000000Z', 'counts');
select pg_temp.put('121');
select is(pg_temp.claim(), 'claimed 1', '121 in hand');
delete from core.broadcasts;
select is(pg_temp.settle('{}'), 'done', 'what is handled');
select is(pg_temp.missed(), '2 2030-01-03T01:00:00.000000Z', 'does not');
select pg_temp.put('122');
select is(pg_temp.claim(), 'claimed 1', '122 in hand');
delete from core.broadcasts;
update nexus_test.clock set frozen = '2030-01-03 02:00Z';
select is((select count(*)::int from pg_temp.claim('2')), 0, 'a successor finds nothing');
select is(pg_temp.missed(), '3 2030-01-03T02:00:00.000000Z', 'and counts it');
update core_private.broadcast_cursors set seen = '123:123:', target = null, at_xid = '0', at_id = 0;
select pg_temp.put('123');
select is(pg_temp.claim('2'), 'claimed 1', 'the next one');
delete from core.broadcasts;
update nexus_test.clock set frozen = '2030-01-03 03:00Z';
select is((select count(*)::int from pg_temp.claim('2')), 0, 'so does a process that did not hear the answer');
select is(pg_temp.missed(), '4 2030-01-03T03:00:00.000000Z', 'once');
select is((select count(*)::int from pg_temp.claim('2')), 0, 'no more');
select is(pg_temp.missed(), '4 2030-01-03T03:00:00.000000Z', 'than that');
