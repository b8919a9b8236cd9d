-- what became of an event goes by the patterns that consumers had when it was emitted
-- holds: P2-status, C2
select core.create_namespace('shop'), core.create_consumer('shop', 'mail', '{a}');
create function pg_temp.status(p_payload text) returns text language sql as $$
  select string_agg(concat_ws(' ', s.consumer, s.state), '; ' order by s.consumer)
    from core.event_log l cross join lateral core.event_status(l.event_id) s where l.payload = to_jsonb(p_payload) $$;
select core.emit('shop', 'a', '"first"');
select core.alter_consumer('shop', 'mail', '{b}');
select core.emit('shop', 'a', '"second"'), core.emit('shop', 'b', '"third"');
select is(pg_temp.status('first'), 'default visible; mail visible', 'it matched then');
select is(pg_temp.status('second'), 'default visible', 'it matched no more');
select is(pg_temp.status('third'), 'default visible; mail visible', 'it matches others now');
select core_node.claim('core_events_shop__mail', '{a}', '{0}', 1, '30 s');
select core_node.settle('core_events_shop__mail', 'n', array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at)) from pgmq.q_core_events_shop__mail where message ->> 'eventType' = 'a';
select is(pg_temp.status('first'), 'default visible; mail settled', 'it was handled');
select core.alter_consumer('shop', 'mail', '{a,b}');
select is(pg_temp.status('second'), 'default visible', 'patterns of later do not bring it back');
select core.alter_consumer('shop', 'mail', null, '{"backfill": "beginning"}');
select is(pg_temp.status('second'), 'default visible; mail waiting', 'a backfill will');
select is(pg_temp.status('first'), 'default visible; mail settled', 'but not what it has had');
