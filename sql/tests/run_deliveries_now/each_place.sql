-- what waits for its time is due now; the rest is left as it is
-- holds: L5
update nexus_test.clock set frozen = '2030-01-01T00:00:00Z', shift = '0';
select core.create_namespace('shop');
create function pg_temp.run(p_ids bigint[]) returns text language sql as $$
  select string_agg(concat_ws(' ', event_id, consumer, outcome), '; ' order by event_id) from core.run_deliveries_now('shop', p_ids) $$;
create function pg_temp.retry(p_msg bigint, p_after interval) returns void language sql as $$
  select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{retry}', array[p_after], array[null::jsonb], '{r}', '{boom}')) from pgmq.q_core_events_shop where msg_id = p_msg $$;
select core.emit_batch('shop', '{a,a,a,a}', '{1,2,3,4}');
select core_node.claim('core_events_shop', '{a}', '{0}', 3, '30 s');
create temporary table fence as select msg_id, read_ct, last_read_at from pgmq.q_core_events_shop;
select pg_temp.retry(1, '10 s'), pg_temp.retry(2, '3 hours'), core_private.set_aside();
select core.emit('shop', 'a', '5', '{"delay": "1 hour"}');
select core.emit('shop', 'b', '6');
with q as (delete from pgmq.q_core_events_shop where message ->> 'eventId' = '6' returning *)
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'b', q.msg_id, 'shop', 6, 0, core.now(), q.message, core.now(), '0' from q;
select core_node.wait_for_wake('{core_events_shop}', '30 s');
listen nexus_wake;
select throws_ok($$select core.run_deliveries_now('shop', null)$$, 'NX006', null, 'it wants ids');
select is(pg_temp.run('{6,1,2,3,4,5,99}'), '1 default due_now; 2 default due_now; 3 default in_flight; 4 default already_due; 5 default due_now; 6 default parked; 99 not_found', 'each has its outcome');
select is((select string_agg(row(event_id, state, attempt, due_at - core.now())::text, ' ' order by event_id) from generate_series(1, 6) e(event_id) cross join lateral core.event_status(event_id) where event_id not in (3, 6)),
          '(1,visible,1,00:00:00) (2,visible,1,00:00:00) (4,visible,0,00:00:00) (5,visible,0,00:00:00)', 'due now, attempts as they were');
select is((select string_agg(headers ->> 'nexus-failures' || ' ' || (headers ->> 'nexus-due'), '; ') from pgmq.q_core_events_shop where headers ? 'nexus-failures'), '1 2030-01-01T00:00:00.000000Z; 1 2030-01-01T00:00:00.000000Z', 'and so say the headers');
select is((select array_agg(read_ct order by msg_id) from core_node.claim('core_events_shop', '{a}', '{0}', 9, '30 s') where outcome = 'claimed'), '{2,2,1,1}', 'a claim takes them');
select is((select string_agg(concat_ws(' ', action, target, details ->> 'done', details ->> 'first_events'), '; ') from core.audit_log), 'run_deliveries_now core_events_shop 3 [1, 2, 5]', 'who did it is kept');
-- The result whose answer was lost is answered as before, however soon the retry is due now.
select is((select string_agg(s.outcome, ' ') from (select * from fence where msg_id = 1) f, core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[msg_id], array[read_ct], array[last_read_at], '{retry}', '{10 s}', '{null}', '{r}', '{e}')) s), 'lost', 'claimed since');
select core_node.settle('core_events_shop', 'n', array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at)) from pgmq.q_core_events_shop;
select is(pg_temp.run('{1}'), '1 settled', 'nothing is left to run');
