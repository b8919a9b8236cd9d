-- E1, E4, and the shape of the message
-- holds: E1, E4
select core.create_namespace('shop');
create temporary table r as select * from core.emit('shop', 'order.placed', '{"id": 12345678901234567890}', '{"producer": "psql", "correlation_id": "c", "tags": ["a"], "headers": {"k": "v"}, "ordering_key": "o"}');
select is((select count(*)::int from core.event_log e join r using (event_id, event_uid) where e.metadata = jsonb_build_object('messageId', r.message_id)), 1, 'one log row with its messageId');
select is((select q.message ->> 'eventUid' from pgmq.q_core_events_shop q join r on q.msg_id = r.message_id), (select event_uid::text from r), 'one delivery');
select is((select q.message -> 'payload' ->> 'id' from pgmq.q_core_events_shop q), '12345678901234567890', 'large integers keep their digits');
select is((select q.headers from pgmq.q_core_events_shop q), '{"k": "v"}'::jsonb, 'headers travel');
select is((select (message ->> 'emittedAt')::timestamptz from pgmq.q_core_events_shop), (select emitted_at from core.event_log join r using (event_id)), 'emitted_at is taken once');
savepoint s;
select core.emit('shop', 'lost');
rollback to s;
select is((select count(*)::int from core.event_log where event_type = 'lost') + (select count(*)::int from pgmq.q_core_events_shop where message ->> 'eventType' = 'lost'), 0, 'ROLLBACK leaves nothing');
select throws_ok(format('select core.emit(''shop'', %L)', t), 'NX002', null, 'refuses the type ' || quote_literal(left(t, 20)))
  from unnest(array['', '.a', 'a b', 'a*', 'ä', repeat('a', 201), E'a\n']) t;
select throws_ok($$select core.emit('shop', null)$$, 'NX002', null, 'refuses a NULL type');
select throws_ok($$select core.emit('nowhere', 'x')$$, 'NX101', null, 'names an unknown namespace');
select lives_ok(format('select core.emit(''shop'', %L)', t), 'accepts the type ' || left(t, 20)) from unnest(array['a', 'A:b/c-d_e.f', '0', repeat('a', 200)]) t;
-- without options
create temporary table p as select * from core.emit('shop', 'plain', '{"id": 1}');
select is((select count(*)::int from core.event_log e join p using (event_id, event_uid) where e.metadata = jsonb_build_object('messageId', p.message_id)), 1, 'plain: one log row with its messageId');
select is((select q.message ->> 'eventUid' from pgmq.q_core_events_shop q join p on q.msg_id = p.message_id), (select event_uid::text from p), 'plain: one delivery');
