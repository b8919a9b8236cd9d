-- NS2, NS3: names of consumers and their queues
-- holds: NS2, NS3, others-names
select core.create_namespace('shop'), core.create_namespace(repeat('s', 30));
select throws_ok(format('select core.create_consumer(''shop'', %L, ''{*}'')', n), 'NX008', null, 'refuses ' || quote_literal(n))
  from unnest(array['', 'Mail', '1mail', 'a__b', 'a-', 'x_dlq', 'x_p12', 'nexus', 'a.b', 'ü', repeat('a', 31), 'default']) n;
select throws_ok('select core.create_consumer(''shop'', null, ''{*}'')', 'NX008', null, 'refuses NULL');
select ok(core.create_consumer('shop', n, '{*}'), 'accepts ' || n) from unnest(array['a', 'send-mail', repeat('b', 30), repeat('b', 29) || 'c']) n;
select throws_ok($$select core.create_consumer('shop', 'send_mail', '{*}')$$, 'NX202', 'consumer ''send_mail'' would share the queue core_events_shop__send_mail with consumer ''send-mail'' of namespace ''shop''', 'refuses a name that would share a queue');
select ok(core.create_consumer(repeat('s', 30), repeat('b', 30), '{*}'), 'the longest of all');
select is((select count(*)::int from core.consumers where octet_length(queue_name) > 43), 0, 'no queue has a longer name');
select is((select array_agg(queue_name order by consumer_id) from core.consumers where name like 'bbb%'),
          array['core_events_shop__' || repeat('b', 16) || '_' || left(md5('core_events_shop__' || repeat('b', 30)), 8), 'core_events_shop__' || repeat('b', 16) || '_' || left(md5('core_events_shop__' || repeat('b', 29) || 'c'), 8),
                'core_events_' || repeat('s', 22) || '_' || left(md5('core_events_' || repeat('s', 30) || '__' || repeat('b', 30)), 8)], 'long ones are told apart by a hash');
select is((select count(*)::int from pgmq.meta m join core.consumers c using (queue_name)), 7, 'all are there');
