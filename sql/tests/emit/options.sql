-- holds: not-yet-refused, D8
select core.create_namespace('shop');
select throws_ok(format('select core.emit(''shop'', ''x'', ''{}'', %L)', o), c, null, c || ' for ' || left(o, 60))
  from (values ('{"nope": 1}', 'NX004'), ('"x"', 'NX005'), ('{"delay": 5}', 'NX005'), ('{"delay": "5"}', 'NX005'), ('{"delay": "-5s"}', 'NX005'),
               ('{"delay": "1s", "deliver_at": "2030-01-01T00:00:00Z"}', 'NX005'), ('{"deliver_at": "2030-01-01 00:00:00"}', 'NX005'), ('{"deliver_at": "soon"}', 'NX005'),
               ('{"headers": {"a": 1}}', 'NX005'), ('{"headers": {"Nexus-due": "x"}}', 'NX005'), ('{"tags": "a"}', 'NX005'), ('{"causation_uid": "x"}', 'NX005'),
               ('{"broadcast": "yes"}', 'NX005'), ('{"broadcast": true, "delay": "1 s"}', 'NX005'), ('{"depth": -1}', 'NX005'), ('{"dedupe_key": ""}', 'NX005'), (jsonb_build_object('dedupe_key', repeat('k', 513))::text, 'NX604'),
               (jsonb_build_object('headers', jsonb_build_object('h', repeat('k', 70000)))::text, 'NX604')) v(o, c);
select is((select message_id from core.emit('shop', 'x', '{}', '{"delay": "1h"}')), null, 'no message id while delayed');
select is((select count(*)::int from core.delayed), 1, 'what is due later waits apart');
select is(core_node.promote_delayed(), 0, 'and is not promoted before it is due');
update nexus_test.clock set shift = '61 min';
select is(core_node.promote_delayed(), 1, 'but then');
select is((select count(*)::int from pgmq.q_core_events_shop), 1, 'to its queue');
select throws_ok(format($$select core.emit('shop', 'a', '1', '{"authored_at": "%s"}')$$, v), 'NX005', null, v || ' is refused by name')
  from unnest(array['20000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00', '2027-01-31T08:00:00+99:00', '2027-01-31T08:00:00+15:60']) v;
-- who is alive when a delay ends is not known now
select throws_ok(q, 'NX005', m || ' cannot be true for an event that is delayed', q)
  from (values ($$select core.emit('shop', 'x', '1', '{"broadcast": true, "delay": "1 s"}')$$, 'broadcast'),
               ($$select core.emit_batch('shop', '{x,x}', '{1,2}', array[null, '{"broadcast": true, "delay": "1 s"}']::jsonb[])$$, 'broadcast[2]')) v (q, m);
select lives_ok($$select core.emit('shop', 'x', '1', '{"broadcast": false}')$$, 'false is no news');
