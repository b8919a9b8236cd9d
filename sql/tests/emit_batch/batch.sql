-- holds: E1, E2, others-batches
select core.create_namespace('shop');
create temporary table r as select * from core.emit_batch('shop', array['a', 'b', 'c', 'd'], array['1', '2', '3', '4']::jsonb[],
  array['{"dedupe_key": "k"}', '{"dedupe_key": "k"}', '{"delay": "1h"}', null]::jsonb[]) with ordinality;
select is((select array_agg(duplicate order by ordinality) from r), array[false, true, false, false], 'the first of a key counts');
select is((select array_agg(message_id is not null order by ordinality) from r), array[true, false, false, true], 'message ids of what is on the queue');
select is((select array_agg(e.payload::text order by ordinality) from r join core.event_log e using (event_uid)), array['1', '1', '3', '4'], 'rows in input order');
select is((select array_agg(q.message -> 'payload' order by msg_id) from pgmq.q_core_events_shop q), array['1', '4']::jsonb[], 'the queue holds what is due');
select is((select count(*)::int from core.emit_batch('shop', '{}', '{}')), 0, 'an empty batch is a no-op');
select throws_ok($$select core.emit_batch('shop', array['a', '.b'], array['1', '2']::jsonb[])$$, 'NX002', null, 'a bad one fails all');
select throws_ok($$select core.emit_batch('shop', array['a', 'b'], array['1']::jsonb[])$$, 'NX006', null, 'lengths');
select throws_ok($$select core.emit_batch('shop', array_fill('a'::text, array[10001]), array_fill('1'::jsonb, array[10001]))$$, 'NX602', null, 'more than 10,000');
select throws_ok($$select core.emit_batch('shop', array['a', 'b'], array['1', '2']::jsonb[], array[null, '{"nope": 1}']::jsonb[])$$, 'NX004', null, 'options are checked');
select throws_ok(format($$select core.emit_batch('shop', '{a,b}', '{1,2}', array[null, '%s']::jsonb[])$$, o.bad), 'NX005', o.said,
    'and the element is named: ' || o.bad)
  from (values ('{"tags": 1}', 'tags[2] cannot be 1'), ('{"delay": 1}', 'delay[2] is not a duration: 1'),
               ('{"dedupe_key": 1}', 'dedupe_key[2] cannot be 1')) o(bad, said);
select is((select count(*)::int from core.event_log), 3, 'nothing is left of what failed');
