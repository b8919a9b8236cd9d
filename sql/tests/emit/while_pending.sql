-- A key that ends with the handling of its event, wherever the delivery is until then, and whatever comes of it.
-- holds: E2
select core.create_namespace('shop', '{"dedupe_for": "1 day", "unhandled_after": "1 hour"}');
create function pg_temp.emit(p_key text, p_more jsonb = '{}') returns boolean language sql as $$
  select duplicate from core.emit('shop', 'sync', '1', jsonb_build_object('dedupe_key', p_key, 'dedupe_while', 'pending') || p_more) $$;
create function pg_temp.claim() returns setof record language sql as $$
  select c.* from core_node.claim('core_events_shop', '{sync}', '{0}', 10, '1 min') c where c.outcome = 'claimed' $$;
create function pg_temp.settle(p_how text) returns void language plpgsql as $$
declare c record;
begin
  select * into strict c from core_node.claim('core_events_shop', '{sync}', '{0}', 10, '1 min') x where x.outcome = 'claimed';
  if p_how = 'handled' then
    perform core_node.settle('core_events_shop', null, array[c.msg_id], array[c.read_ct], array[c.last_read_at]);
  else
    perform core_node.settle('core_events_shop', null, '{}', '{}', '{}', pg_temp.failed(array[c.msg_id], array[c.read_ct], array[c.last_read_at], array[p_how], '{1 s}', '{null}', '{r}', '{e}'));
  end if;
end $$;
select ok(not pg_temp.emit('k'), 'the first is written');
select ok(pg_temp.emit('k'), 'a second while it waits is not');
create temporary table c as select * from core_node.claim('core_events_shop', '{sync}', '{0}', 10, '1 min') x where x.outcome = 'claimed';
select ok(pg_temp.emit('k'), 'nor while it is being handled');
select core_node.settle('core_events_shop', null, array[msg_id], array[read_ct], array[last_read_at]) from c;
select ok(not pg_temp.emit('k'), 'once it has been handled the key is free');
select is((select count(*)::int from core.event_keys), 1, 'one key is remembered');
select pg_temp.settle('retry');
select ok(pg_temp.emit('k'), 'a retry keeps it');
update nexus_test.clock set shift = '1 min';
select pg_temp.settle('reject');
select is((select count(*)::int from core.dead_letters), 1, 'it is a dead letter');
select ok(not pg_temp.emit('k'), 'which does not keep it');
-- longer than keys are remembered
update nexus_test.clock set shift = '3 days';
select is(core_private.expire_keys(), 0, 'the sweep leaves the key of what is pending');
select ok(pg_temp.emit('k'), 'however long it waits');
select pg_temp.settle('handled');
select is(core_private.expire_keys(), 1, 'and forgets it afterwards');
-- delayed
select ok(not pg_temp.emit('late', '{"delay": "2 h"}'), 'delayed');
select ok(pg_temp.emit('late'), 'while it is delayed it is pending');
select is((select s.state from core.event_log l cross join core.event_status(l.event_id) s where l.event_id = (select event_id from core.event_keys where key = 'late')), 'delayed', 'its status says so');
update nexus_test.clock set shift = '3 days 3 h';
select is(core_node.promote_delayed(), 1, 'it is due');
select ok(pg_temp.emit('late'), 'on the queue it still is');
select is((select (q.msg_id = k.msg_id, q.headers ->> 'nexus-due' is not null)::text from pgmq.q_core_events_shop q join core.event_keys k on k.key = 'late'), '(t,t)', 'it is the message that was drawn for it');
select pg_temp.settle('handled');
select ok(not pg_temp.emit('late'), 'until it is handled');
select pg_temp.settle('handled');
select ok(not pg_temp.emit('far', '{"delay": "5 days"}'), 'delayed for longer than keys are remembered');
update nexus_test.clock set shift = '6 days';
select is((select count(*)::int from core.event_keys where key = 'far' and expires_at < core.now()), 1, 'its time is over');
select is(core_private.expire_keys(), 1, 'the sweep takes the other');
select ok(pg_temp.emit('far'), 'and leaves that of what is delayed');
-- taken off the queue by hand
select ok(not pg_temp.emit('purged'), 'written');
select core.purge_queue('core_events_shop', 'core_events_shop');
select ok(not pg_temp.emit('purged'), 'what was purged is not pending');
select pg_temp.settle('handled');
-- beside ordinary keys
select ok(not (select duplicate from core.emit('shop', 'sync', '1', '{"dedupe_key": "o"}')), 'an ordinary key');
select pg_temp.settle('handled');
select ok(pg_temp.emit('o'), 'is kept for its time, also against one that would end sooner');
select ok(not pg_temp.emit('p'), 'one that is pending');
select ok((select duplicate from core.emit('shop', 'sync', '1', '{"dedupe_key": "p"}')), 'keeps ordinary ones away');
select pg_temp.settle('handled');
select ok(not (select duplicate from core.emit('shop', 'sync', '1', '{"dedupe_key": "p"}')), 'until it is handled');
select pg_temp.settle('handled');
-- batches
create temporary table b as select row_number() over () as n, e.* from core.emit_batch('shop', array_fill('sync'::text, array[5]), array_fill('1'::jsonb, array[5]),
  array['{"dedupe_key": "x", "dedupe_while": "pending"}', '{"dedupe_key": "x"}', '{"dedupe_key": "y", "dedupe_while": "pending", "delay": "1 h"}', '{"dedupe_key": "z"}', '{}']::jsonb[]) e;
select is((select string_agg(duplicate::text, ' ' order by n) from b), 'false true false false false', 'the first of a key speaks for it');
select is((select string_agg(k.key, ' ' order by k.key) from core.event_keys k where k.key in ('x', 'y', 'z') and k.msg_id is not null), 'x y', 'and says how long it holds');
select is((select count(*)::int from pgmq.q_core_events_shop q join core.event_keys k on k.msg_id = q.msg_id and k.key = 'x'), 1, 'x is that message');
select is((select count(*)::int from core.delayed d join core.event_keys k on k.msg_id = d.msg_id and k.key = 'y'), 1, 'y is delayed as it');
select ok(pg_temp.emit(k), k || ' is pending') from unnest('{x,y}'::text[]) k;
-- refused
select throws_ok($$ select core.emit('shop', 'sync', '1', '{"dedupe_while": "pending"}') $$, 'NX005', null, 'without a key');
select throws_ok($$ select core.emit('shop', 'sync', '1', '{"dedupe_key": "k", "dedupe_while": "yes"}') $$, 'NX005', null, 'another word');
-- parked, since nobody handles its type any more
select core.purge_queue('core_events_shop', 'core_events_shop');
select ok(not (select duplicate from core.emit('shop', 'other', '1', '{"dedupe_key": "parked", "dedupe_while": "pending"}')), 'of a type that nobody handles');
select core_node.register_node('shop', 'n1', true, '{sync}');
select is(core_private.park_unhandled() ->> 'parked', '1', 'it is parked');
select ok(pg_temp.emit('parked'), 'and pending');
select core.cancel_deliveries('shop', array[event_id], 'not wanted') from core.event_keys where key = 'parked';
select ok(not pg_temp.emit('parked'), 'until it is cancelled');
-- a queue that is lost has nothing pending; what is emitted then says so
set local client_min_messages = warning;
drop table pgmq.q_core_events_shop;
select throws_ok($$ select pg_temp.emit('parked') $$, 'NX110', null, 'the queue is lost');
select lives_ok($$ select pg_temp.emit('kept', '{"delay": "1 h"}') $$, 'what is delayed needs no queue yet');
select ok(pg_temp.emit('kept', '{"delay": "1 h"}'), 'and is pending');
