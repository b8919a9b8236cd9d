-- holds: L5-who
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,a,a,a}', '{1,2,3,4}');
select core.emit('shop', 'a', '{}', '{"delay": "1 hour"}');
select core_node.claim('core_events_shop', '{a}', '{0}', 2, '30 s');
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
values ('core_events_shop', 'z', 9, 'shop', 0, core.now(), '{}', core.now(), '0');
select throws_ok($$select core.purge_queue('core_events_shop', 'shop')$$, 'NX206', null, 'the name is asked for twice');
select throws_ok($$select core.purge_queue('nowhere', 'nowhere')$$, 'NX103', null, 'unknown');
select throws_ok($$select core.purge_queue('core_events_shop', 'core_events_shop', 0)$$, 'NX006', null, 'none at a time');
select is((select p::text from core.purge_queue('core_events_shop', 'core_events_shop', 3) p), '(3,2,0,0)', 'a batch, oldest first, in flight or not');
select is((select array_agg(msg_id) from pgmq.q_core_events_shop), array[4]::bigint[], 'the rest stays');
select is((select p::text from core.purge_queue('core_events_shop', 'core_events_shop') p), '(1,0,1,1)', 'then what is delayed or parked');
select is((select p::text from core.purge_queue('core_events_shop', 'core_events_shop') p), '(0,0,0,0)', 'nothing is left');
select is((select count(*)::int from core.event_log where namespace = 'shop'), 5, 'the log keeps the events');
select is((select string_agg(details ->> 'removed', ' ' order by audit_id) from core.audit_log where action = 'purge_queue' and target = 'core_events_shop'), '3 1', 'who purged is kept');
