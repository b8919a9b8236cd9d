-- deliveries are cancelled wherever they wait, and leave a trace; what is handled now is left alone
-- holds: L5
update nexus_test.clock set frozen = '2030-01-01T00:00:00Z', shift = '0';
select core.create_namespace('shop');
create function pg_temp.cancel(p_ids bigint[]) returns text language sql as $$
  select string_agg(concat_ws(' ', event_id, consumer, outcome), '; ' order by event_id) from core.cancel_deliveries('shop', p_ids, 'a mistake') $$;
create function pg_temp.claim(p_n integer = 1) returns void language sql as $$ select core_node.claim('core_events_shop', '{a}', '{0}', p_n, '30 s') $$;
create function pg_temp.retry(p_msg bigint, p_after interval) returns void language sql as $$
  select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{retry}', array[p_after], array[null::jsonb], '{r}', '{boom}')) from pgmq.q_core_events_shop where msg_id = p_msg $$;
select core.emit_batch('shop', '{a,a,a,a}', '{1,2,3,4}'); -- events and messages 1 to 4
-- 1: waits for a retry; 2: set aside; 3: leased; 4: never read
select pg_temp.claim(3), pg_temp.retry(1, '10 s'), pg_temp.retry(2, '3 hours'), core_private.set_aside();
select core.emit('shop', 'a', '5', '{"delay": "1 hour"}');
select core.emit('shop', 'b', '6');
with q as (delete from pgmq.q_core_events_shop where message ->> 'eventId' = '6' returning *)
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'b', q.msg_id, 'shop', 6, 0, core.now(), q.message, core.now(), '0' from q;
select is((select string_agg(row(event_id, state)::text, ' ' order by event_id) from generate_series(1, 6) e(event_id) cross join lateral core.event_status(event_id)),
          '(1,waiting) (2,delayed) (3,in_flight) (4,visible) (5,delayed) (6,parked)', 'one in each place');
select throws_ok($$select core.cancel_deliveries('shop', '{4}', ' ')$$, 'NX006', null, 'it wants a reason');
select throws_ok($$select core.cancel_deliveries('shop', '{}', 'x')$$, 'NX006', null, 'and ids');
select throws_ok($$select core.cancel_deliveries('shop', '{4,null}', 'x')$$, 'NX006', null, 'that are some');
select throws_ok($$select core.cancel_deliveries('shop', array(select generate_series(1::bigint, 10001)), 'x')$$, 'NX603', null, 'not more than can be');
select throws_ok($$select core.cancel_deliveries('nowhere', '{4}', 'x')$$, 'NX101', null, 'a namespace that is there');
select throws_ok($$select core.cancel_deliveries('shop', '{4}', 'x', 'mail')$$, 'NX102', null, 'and a consumer');
select is(pg_temp.cancel('{6,1,2,3,4,5,4,99}'), '1 default cancelled; 2 default cancelled; 3 default in_flight; 4 default cancelled; 5 default cancelled; 6 default cancelled; 99 not_found', 'each has its outcome');
select is((select string_agg(row(event_id, state)::text, ' ' order by event_id) from generate_series(1, 6) e(event_id) cross join lateral core.event_status(event_id)),
          '(1,cancelled) (2,cancelled) (3,in_flight) (4,cancelled) (5,cancelled) (6,cancelled)', 'and its state');
select is((select detail from core.event_status(4)), 'by ' || core_private.principal(), 'by somebody');
select is((select row(count(*), min(queue_length))::text from core.queue_metrics where queue_name = 'core_events_shop'), '(1,1)', 'the leased one is left');
select is((select count(*)::int from core.delayed) + (select count(*)::int from core.parked), 0, 'nothing waits elsewhere');
select is((select string_agg(concat_ws(' ', event_id, payload, attempts, reason, status, resolution, resolved_reason), '; ' order by event_id) from core.dead_letters),
          '1 1 1 cancelled resolved cancelled a mistake; 2 2 1 cancelled resolved cancelled a mistake; 4 4 0 cancelled resolved cancelled a mistake; 5 5 0 cancelled resolved cancelled a mistake; 6 6 0 cancelled resolved cancelled a mistake', 'the ledger has what it was');
select is((select count(*)::int from core.unresolved_dead_letters), 0, 'but nobody has to look at it');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 0, 'nor at a copy');
select is((select string_agg(concat_ws(' ', action, namespace, reason, details ->> 'done'), '; ') from core.audit_log), 'cancel_deliveries shop a mistake 5', 'who did it is kept');
select throws_ok($$select core.replay_dead_letter(1)$$, 'NX205', null, 'it is not replayed');
select is(pg_temp.cancel('{1}'), '1 settled', 'nothing is left to cancel');
select is((select detail from core.cancel_deliveries('shop', '{3}', 'x')), 'leased at 2030-01-01T00:00:00.000000Z, until 2030-01-01T00:00:30.000000Z', 'when it was leased');
-- A lease that ended protects nobody, and who held it hears that the message is gone.
update nexus_test.clock set shift = '31 s';
create temporary table l as select msg_id, read_ct, last_read_at from pgmq.q_core_events_shop;
select is(pg_temp.cancel('{3}'), '3 default cancelled', 'after its lease');
select is((select s.outcome from l, core_node.settle('core_events_shop', 'n', array[msg_id], array[read_ct], array[last_read_at]) s), 'gone', 'a late ack finds nothing');
select is((select s.outcome from l, core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{reject}', '{null}', '{null}', '{r}', '{e}')) s), 'gone', 'a late failure did not bury it');
-- what died, and what was replayed
select core.emit('shop', 'a', '7');
create temporary table e as select max(event_id) as id from core.event_log;
select pg_temp.claim();
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{reject}', '{null}', '{null}', '{r}', '{e}')) from pgmq.q_core_events_shop;
select is((select row(c.outcome, c.detail)::text from e, core.cancel_deliveries('shop', array[id], 'x') c), '(dead,"dead letter 7: replay or discard it")', 'a dead letter is discarded instead');
select core.replay_dead_letter(7);
select is((select string_agg(c.outcome, ' ') from e, core.cancel_deliveries('shop', array[id], 'x') c), 'cancelled', 'a replay can be cancelled');
select is((select row(s.state, l.round, l.replay_of)::text from e, core.event_status(id) s join core.dead_letters l using (dead_letter_id)), '(cancelled,1,7)', 'as its next round');
-- one replayed with a delay has no message id to go by
select core.emit('shop', 'a', '8');
update e set id = (select max(event_id) from core.event_log);
select pg_temp.claim();
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{reject}', '{null}', '{null}', '{r}', '{e}')) from pgmq.q_core_events_shop;
select core.replay_dead_letters('{"namespace": "shop"}', '{"delay": "1 minute"}');
update nexus_test.clock set shift = '5 minutes';
select core_node.promote_delayed();
select is((select string_agg(c.outcome, ' ') from e, core.cancel_deliveries('shop', array[id], 'x') c), 'cancelled', 'found by its event');
-- another namespace's event is unknown here
select core.create_namespace('other'), core.emit('other', 'a');
update e set id = (select max(event_id) from core.event_log);
select is((select string_agg(c.outcome, ' ') from e, core.cancel_deliveries('shop', array[id], 'x') c), 'not_found', 'not found in this namespace');
select is((select state from e, core.event_status(id)), 'visible', 'and not touched');
