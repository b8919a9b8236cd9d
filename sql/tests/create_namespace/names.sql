-- NS2, NS3, NS4: which names there can be, and that two names never share a queue.
-- holds: NS2, NS3, NS4, others-names
select throws_ok(format('select core.create_namespace(%L)', n), 'NX001', null, 'refuses ' || quote_literal(n))
  from unnest(array['', ' ', 'Shop', '1shop', 'a__b', 'a-_b', 'a_', 'a-', 'x_dlq', 'x-dlq', 'x_pkey', 'x_vt_idx', 'x_msg_id_seq', 'x_default', 'x_p12',
                    'nexus', 'a.b', 'a;b', 'a"b', 'a''b', 'ü', repeat('a', 31), E'a\nb']) n;
select throws_ok('select core.create_namespace(null)', 'NX001', null, 'refuses NULL');
select ok(core.create_namespace(n), 'accepts ' || n) from unnest(array['a', 'myapp', 'a-b-c', 'order_2', repeat('a', 30), 'select', 'p12']) n;
select throws_ok($$select core.create_namespace('a_b_c')$$, 'NX202', null, 'refuses a name that would share a queue');
select is(core.queue_name_for_namespace('a-b-c'), 'core_events_a_b_c', 'queue name');
select is(core.dead_letter_queue_name_for_namespace('never-made'), 'core_events_never_made_dlq', 'answers by rule for what is not registered');
select throws_ok($$select core.queue_name_for_namespace('No')$$, 'NX001', null, 'raises for what cannot be');
select is((select array_agg(queue_name order by queue_name) from pgmq.meta where queue_name like 'core_events_myapp%')::text[],
          array['core_events_myapp', 'core_events_myapp_dlq'], 'both queues are there');
select is((select array_agg(name) from core.consumers where namespace = 'myapp')::text[], array['default'], 'the consumer default is there from the start');
