-- C2: a new consumer starts from now, from the beginning or from a time of the log
-- holds: C2
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop'), core.create_namespace('mall');
select core.emit('shop', t) from unnest('{a.old,b.old}'::text[]) t;
update nexus_test.clock set frozen = '2030-01-02 00:00Z';
select core.emit_batch('shop', '{a.two,b.two,a.three}', array_fill('{"n": 1}'::jsonb, '{3}'), array['{"headers": {"h": "1"}, "tags": ["t"]}', '{}', '{"delay": "1 h"}']::jsonb[]);
select core.emit('mall', 'a.elsewhere');
select core.append_event_log('shop', 'a.appended', '{}', null);
select core.create_consumer('shop', 'first', '{x}');
select core.emit('shop', 'a.late', '{}', '{"delay": "1 h"}');
select core.create_consumer('shop', 'all', '{a.*}', '{"from": "beginning"}'), core.create_consumer('shop', 'since', '{a.*,b.*}', '{"from": "2030-01-01T12:00:00+00:00"}'), core.create_consumer('shop', 'now', '{*}', '{"from": "now"}');
select core.emit('shop', 'a.new');
select core.append_event_log('shop', 'a.appended_later', '{}', null);
select throws_ok($$select core.drop_consumer('shop', 'all')$$, 'NX213', 'consumer ''all'' of namespace ''shop'' still has messages on its queue, a backfill that has not ended', 'it has something to come');
select is((select state || ' ' || detail from core.event_status((select min(event_id) from core.event_log where namespace = 'shop')) where consumer = 'all'), 'waiting its backfill has not come to the event yet', 'it is said to come');
select is((select backfill from core.consumer_status where consumer = 'all'), 'waiting', 'seen');
-- two rows a step: it goes on where it was
update core_private.backfills set awaited = '{}';
select is((select core_private.run_backfill(min(backfill_id), 2) from core_private.backfills), 'running', 'a step');
select is((select backfill || ' ' || backfill_delivered from core.consumer_status where consumer = 'all'), 'running 1', 'how far it has come');
select core_private.run_backfills();
create function pg_temp.got(p_relation text) returns text[] language plpgsql as $$ declare v text[]; begin
  execute format('select array_agg(message ->> ''eventType'' order by msg_id) from pgmq.%I', 'q_core_events_shop__' || p_relation) into v; return v; end $$;
select is(pg_temp.got('all'), '{a.new,a.old,a.two,a.appended}', 'all there was, and each once');
select is(pg_temp.got('since'), '{a.new,a.two,b.two,a.appended}', 'from a time on');
select is(pg_temp.got('now'), '{a.new}', 'nothing of before');
select is((select array_agg(event_type || ' ' || due_at::text order by due_at, event_type) from core.delayed where queue_name like '%all'), '{"a.late 2030-01-02 01:00:00+00","a.three 2030-01-02 01:00:00+00"}', 'what is due later comes later');
select is((select message - 'emittedAt' from pgmq.q_core_events_shop__all where message ->> 'eventType' = 'a.two'), (select message - 'emittedAt' from pgmq.q_core_events_shop where message ->> 'eventType' = 'a.two'), 'the same message');
select is((select headers from pgmq.q_core_events_shop__all where message ->> 'eventType' = 'a.two'), '{"h": "1"}', 'with its headers');
select is((select array_agg(distinct state) from core.event_status((select min(event_id) from core.event_log where namespace = 'shop')) where consumer = 'all'), '{visible}', 'now it is there');
select is((select count(*)::int from core.event_status((select min(event_id) from core.event_log where namespace = 'shop')) where consumer = 'now'), 0, 'and not for who began now');
select is((select array_agg(backfill order by consumer) from core.consumer_status where backfill is not null), '{done,done}', 'done');
select is(core_private.run_backfills(), '{}', 'nothing is left');
select is((select array_agg(consumer_generation order by event_id) from core.event_log where namespace = 'shop'), '{NULL,NULL,NULL,NULL,NULL,NULL,1,4,4}', 'the log knows');
select throws_ok(format($$select core.create_consumer('shop', 'x', '{*}', %L)$$, o), 'NX005', null, o) from unnest(array['{"from": "2031-01-01T00:00:00Z"}', '{"from": "2029-01-01T00:00:00"}', '{"from": null}', '{"from": "yesterday"}', '{"from": 3}']) o where o <> '{"from": null}';
select ok(not core.create_consumer('shop', 'since', '{a.*,b.*}', '{"from": "2030-01-01T13:00:00+01:00"}'), 'the same time');
select throws_ok($$select core.create_consumer('shop', 'all', '{a.*}', '{"from": "now"}')$$, 'NX212', null, 'another start is another consumer');
