-- 11: a log row, no delivery
-- holds: P1
select core.create_namespace('shop');
create temporary table r as select core.append_event_log('shop', 'a', '{"x": 1}', 'n') as id, core.append_event_log('shop', 'a', '{"x": 1}', null, gen_random_uuid(), '{"messageId": 1}') as id2;
select is((select (payload, producer_node_id, scheduled_task_id, metadata)::text from core.event_log join r on event_id = id), '("{""x"": 1}",n,,{})', 'a NULL metadata becomes {}');
select is((select metadata from core.event_log join r on event_id = id2), '{"messageId": 1}'::jsonb, 'metadata as given');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'nothing is delivered');
select throws_ok(format('select core.append_event_log(%s)', a), c, null, c || ' for ' || a)
  from (values ($$'nowhere', 'a', '1', 'n'$$, 'NX101'), ($$'No', 'a', '1', 'n'$$, 'NX001'), ($$'shop', '.a', '1', 'n'$$, 'NX002'), ($$'shop', 'a', null, 'n'$$, 'NX003'),
               ($$'shop', 'a', '1e309', 'n'$$, 'NX003'), ($$'shop', 'a', '1', 'n', null, '3'$$, 'NX006'),
               ($$'shop', 'a', '1', repeat('n', 513)$$, 'NX604'), ($$'shop', 'a', '1', ''$$, 'NX006'),
               ($$'shop', 'a', '1', 'n', null, jsonb_build_object('x', repeat('n', 70000))$$, 'NX604')) v(a, c);
select lives_ok($$select core.append_event_log('shop', 'a', '1', repeat('n', 512))$$, 'as long as emit allows');
