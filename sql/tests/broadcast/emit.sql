-- Broadcast: stored once, besides what consumers get, wherever an event can come from
-- holds: broadcast (stored once)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop');
create function pg_temp.stored() returns text[] language sql as $$
  with gone as (delete from core.broadcasts returning broadcast_id, event_type)
  select array_agg(event_type order by broadcast_id) from gone $$;
select core.emit('shop', 'a', '{"n": 1}', '{"broadcast": true, "headers": {"h": "1"}, "correlation_id": "c"}');
select is((select (namespace, cluster, xid, event_type, emitted_at, headers)::text from core.broadcasts),
  (select (text 'shop', s.system_identifier, pg_current_xact_id(), text 'a', timestamptz '2030-01-01 00:00Z', jsonb '{"h": "1"}')::text from pg_control_system() s), 'one row, with the transaction and the server');
select is((select message from core.broadcasts), (select message from pgmq.q_core_events_shop), 'the envelope is that of the consumer default, which gets it too');
select is((select message ->> 'broadcast' from core.broadcasts), 'true', 'and says that it is one');
select is((select (b.event_id, b.event_uid)::text from core.broadcasts b), (select (event_id, event_uid)::text from core.event_log), 'of an event in the log');
select pg_temp.stored();
select core.emit('shop', 'a', '1', '{"broadcast": false}'), core.emit('shop', 'a', '1', '{"headers": {"h": "1"}}'), core.emit('shop', 'a');
select core.emit_batch('shop', '{a,b}', '{1,2}', array['{"broadcast": false}', null]::jsonb[]);
select is(pg_temp.stored(), null, 'nothing else is');
select core.emit_batch('shop', '{a,b,c,d}', '{1,2,3,4}', array['{"broadcast": true}', null, '{"broadcast": true, "dedupe_key": "k"}', '{"broadcast": true, "dedupe_key": "k"}']::jsonb[]);
select is(pg_temp.stored(), '{a,c}', 'of a batch those that say so, and no duplicate');
select is((select duplicate from core.emit('shop', 'c', '1', '{"broadcast": true, "dedupe_key": "k"}')), true, 'a duplicate');
select is(pg_temp.stored(), null, 'is not stored');
select core.schedule_event('shop', 'later', '1', '2030-01-01 01:00Z', '{"broadcast": true}');
select is(pg_temp.stored(), null, 'a scheduled one is not yet');
update nexus_test.clock set frozen = '2030-01-01 01:00Z';
select core.fire_due_events();
select is(pg_temp.stored(), '{later}', 'but when it is due');
select throws_ok(format('select core.emit(''shop'', ''a'', ''1'', %L)', o), 'NX005', null, o)
  from unnest('{"{\"broadcast\": true, \"delay\": \"1 h\"}","{\"broadcast\": true, \"deliver_at\": \"2031-01-01T00:00:00Z\"}"}'::text[]) o;
select lives_ok($$select core.emit('shop', 'past', '1', '{"broadcast": true, "deliver_at": "2029-01-01T00:00:00Z"}')$$, 'what is due already is not delayed');
select core.drop_namespace('shop', 'shop', true);
select is(pg_temp.stored(), null, 'they go with their namespace');
