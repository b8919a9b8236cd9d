-- L2, L3: what is buried is still held by the fence; ledger, copy and removal are one statement; a source is buried once a round
-- holds: L1, L2, L3
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,a,a}', '{1,2,3}');
select core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s');
select is((select array_agg(msg_id order by msg_id) from core_private.bury('core_events_shop', 'n', '{1,2,3,9}', '{1,0,1,1}', '{r,r,r,r}', '{e,e,null,e}')), array[1, 3]::bigint[], 'a stale or unknown one is not buried');
select is((select array_agg(msg_id) from pgmq.q_core_events_shop), array[2]::bigint[], 'and stays where it was');
select is((select array_agg(l.msg_id || q.msg_id::text order by l.msg_id) from core.dead_letters l join pgmq.q_core_events_shop_dlq q on q.msg_id = l.dlq_msg_id
            where q.message -> 'originalEvent' ->> 'eventUid' = l.event_uid::text), array['11', '32'], 'each ledger row names its own copy');
select is((select (error, failed_at)::text from core.delivery_errors where msg_id = 3), (select (reason, failed_at)::text from core.dead_letters where msg_id = 3), 'without an error text the reason stands for it');
-- the same event once more, sent by hand
select pgmq.send('core_events_shop'::text, (select message -> 'originalEvent' from pgmq.q_core_events_shop_dlq where msg_id = 1));
select pgmq.send('core_events_shop'::text, (select message -> 'originalEvent' from pgmq.q_core_events_shop_dlq where msg_id = 1));
select is((select count(*)::int from core_private.bury('core_events_shop', 'n', '{4,5}', '{0,0}', '{r,r}', '{e,e}')), 2, 'the same source twice in one call');
select is((select array_agg(round order by dead_letter_id) from core.dead_letters where event_uid = (select event_uid from core.dead_letters where msg_id = 1)), array[0, 1, 2], 'is a round each');
select is((select array_agg(msg_id order by dead_letter_id) from core.dead_letters), array[1, 3, 4, 5]::bigint[], 'ids follow the order of the messages');
select throws_ok($$insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason)
  select namespace, source_kind, source_ref, payload, attempts, failed_at, reason from core.dead_letters where msg_id = 1$$, '23505', null, 'one row a source and round');
