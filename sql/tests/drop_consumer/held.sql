-- C3: refused while something is undelivered
-- holds: C3
select core.create_namespace('shop');
select core.create_consumer('shop', c, '{a.*}') from unnest('{queued,delayed,parked,dead,free}'::text[]) c;
select core.emit('shop', 'a.b'), core.emit('shop', 'a.b', '{}', '{"delay": "1 h"}');
delete from core.delayed where queue_name <> 'core_events_shop__delayed';
delete from pgmq.q_core_events_shop__delayed; delete from pgmq.q_core_events_shop__free; 
insert into core_private.parking (queue_name, seen_at) values ('core_events_shop__parked', now());
with q as (delete from pgmq.q_core_events_shop__parked returning *)
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived) select 'core_events_shop__parked', 'a.b', msg_id, 'shop', 0, enqueued_at, message, now(), '0' from q;
select core_node.settle('core_events_shop__dead', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{reject}', '{null}', '{null}', '{no}', '{no}'))
  from core_node.claim('core_events_shop__dead', '{*}', '{0}', 1, '30 s') where outcome = 'claimed';
select is((select count(*)::int from core.dead_letters), 1, 'one is dead');
select throws_ok(format('select core.drop_consumer(''shop'', %L)', c), 'NX213', format('consumer %L of namespace ''shop'' still has %s', c, m), c)
  from (values ('queued', 'messages on its queue'), ('delayed', 'delayed events'), ('parked', 'parked events'), ('dead', 'unresolved dead letters')) v (c, m);
select lives_ok($$select core.drop_consumer('shop', 'free')$$, 'free to go');
select throws_ok($$select core.drop_consumer('shop', 'free', true)$$, 'NX102', null, 'and gone');
select throws_ok($$select core.drop_consumer('shop', 'default', true)$$, 'NX006', null, 'default stays');
select is((select array_agg(name order by name) from core.consumers)::text[], '{dead,default,delayed,parked,queued}', 'the others stay');
