-- E1: one log row, one delivery a matching consumer
-- holds: E1
select core.create_namespace('shop');
create function pg_temp.consumer(p_name text, p_patterns text[]) returns void language plpgsql as $$
declare v_id integer;
begin
  insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', p_name, p_patterns, 'core_events_shop__' || p_name) returning consumer_id into v_id;
  insert into core.queues (queue_name, namespace, consumer_id) values ('core_events_shop__' || p_name, 'shop', v_id);
end $$;
select pg_temp.consumer('mail', '{order.*,order:*}'), pg_temp.consumer('all', '{*}');
set local role nexus_owner;
select core_private.create_queue('core_events_shop__mail'), core_private.create_queue('core_events_shop__all');
reset role;
create function pg_temp.counts() returns text language sql as $$
  select (select count(*) from core.event_log) || ' ' || (select count(*) from pgmq.q_core_events_shop) || ' ' || (select count(*) from pgmq.q_core_events_shop__mail) || ' '
      || (select count(*) from pgmq.q_core_events_shop__all) || ' ' || (select count(*) from core.delayed) $$;
select core.emit('shop', 'order.placed');
select is(pg_temp.counts(), '1 1 1 1 0', 'to each that matches');
select core.emit('shop', 'orders.placed');
select is(pg_temp.counts(), '2 2 1 2 0', 'and to no other');
select core.emit('shop', 'order:x', '1', '{"delay": "1 h"}');
select is(pg_temp.counts(), '3 2 1 2 3', 'a delayed one waits for each');
select core.emit_batch('shop', '{order.a,x,order.b}', '{1,2,3}', array[null, null, '{"delay": "1 h"}']::jsonb[]);
select is(pg_temp.counts(), '6 4 2 4 6', 'a batch does the same');
update core.namespaces set default_consumer = false; -- as it will be where there are named consumers only
select is((select message_id from core.emit('shop', 'order.c')), null, 'no message id without the default consumer');
select core.emit_batch('shop', '{x}', '{1}');
select is(pg_temp.counts(), '8 4 3 6 6', 'which can be switched off');
update nexus_test.clock set shift = '2 h';
select is(core_node.promote_delayed(), 6, 'what is due is moved');
select is((select count(*)::int from pgmq.q_core_events_shop m where m.headers ->> 'nexus-due' is not null), 2, 'what was moved says when it was due');
select is(pg_temp.counts(), '8 6 5 8 0', 'to the queue of each');
select is((select count(distinct message ->> 'eventUid')::int from pgmq.q_core_events_shop__mail m where exists (select from core.event_log e where e.event_uid::text = m.message ->> 'eventUid' and e.event_type = m.message ->> 'eventType')), 5, 'each message is its event');
