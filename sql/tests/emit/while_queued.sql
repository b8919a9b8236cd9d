-- A key that ends when somebody takes the event: who asks then may have changed what the handler has read already.
-- holds: E2
select core.create_namespace('shop', '{"dedupe_for": "1 day"}');
create function pg_temp.emit(p_while text = 'queued') returns boolean language sql as $$
  select duplicate from core.emit('shop', 'sync', '1', jsonb_build_object('dedupe_key', 'k', 'dedupe_while', p_while)) $$;
create function pg_temp.queue() returns text language sql as $$
  select string_agg(case when read_ct = 0 then 'queued' else 'taken' end, ' ' order by msg_id) from pgmq.q_core_events_shop $$;
create temporary table c as select null::bigint as msg_id, null::integer as read_ct, null::timestamptz as last_read_at limit 0;
create function pg_temp.claim() returns void language sql as $$
  insert into c select x.msg_id, x.read_ct, x.last_read_at from core_node.claim('core_events_shop', '{sync}', '{0}', 1, '1 min') x where x.outcome = 'claimed' $$;
select ok(not pg_temp.emit(), 'the first is written');
select ok(pg_temp.emit(), 'a second while it waits is not');
select pg_temp.claim();
select ok(not pg_temp.emit(), 'once a node has taken it, a second is');
select ok(pg_temp.emit(), 'and keeps the key');
select is(pg_temp.queue(), 'taken queued', 'one is handled, one waits');
select ok(pg_temp.emit('pending'), 'who asks for it while pending is a duplicate of that');
-- a retry waits again
select core_node.settle('core_events_shop', null, '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{retry}', '{1 s}', '{null}', '{r}', '{e}')) from c;
delete from c;
select core.cancel_deliveries('shop', array[event_id], 'the retry is what is looked at') from core.event_keys;
select ok(not pg_temp.emit(), 'the key went with its own event');
update nexus_test.clock set shift = '1 min';
select core.cancel_deliveries('shop', array(select (message ->> 'eventId')::bigint from pgmq.q_core_events_shop where read_ct > 0), 'not wanted');
select pg_temp.claim();
select core_node.settle('core_events_shop', null, '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{retry}', '{10 s}', '{null}', '{r}', '{e}')) from c;
delete from c;
select ok(pg_temp.emit(), 'what waits for its next attempt is queued');
update nexus_test.clock set shift = '2 min';
select ok(pg_temp.emit(), 'also when that is due');
-- a lease that ran out: its handler may still settle
select pg_temp.claim();
update nexus_test.clock set shift = '10 min';
select ok(pg_temp.emit('pending'), 'it is pending');
select ok(not pg_temp.emit(), 'but nobody knows that it will be handled once more');
select core_node.settle('core_events_shop', null, array[msg_id], array[read_ct], array[last_read_at]) from c;
select is(pg_temp.queue(), 'queued', 'which settles late, and the second is there');
-- a batch
select core.purge_queue('core_events_shop', 'core_events_shop');
select core.emit_batch('shop', '{sync,sync}', '{1,2}', array['{"dedupe_key": "a", "dedupe_while": "queued"}', '{"dedupe_key": "b", "dedupe_while": "queued"}']::jsonb[]);
delete from c;
select pg_temp.claim();
select is((select string_agg(duplicate::text, ' ') from core.emit_batch('shop', '{sync,sync}', '{1,2}', array['{"dedupe_key": "a", "dedupe_while": "queued"}', '{"dedupe_key": "b", "dedupe_while": "queued"}']::jsonb[])),
  'false true', 'a was taken, b waits');
-- parked
select core.purge_queue('core_events_shop', 'core_events_shop');
select core.emit('shop', 'other', '1', '{"dedupe_key": "p", "dedupe_while": "queued"}');
update nexus_test.clock set shift = '2 h';
select core_node.register_node('shop', 'n1', true, '{sync}');
select is(core_private.park_unhandled() ->> 'parked', '1', 'it is parked');
select ok((select duplicate from core.emit('shop', 'other', '1', '{"dedupe_key": "p", "dedupe_while": "queued"}')), 'and queued');
