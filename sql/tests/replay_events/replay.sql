-- C5: events of the log are delivered to one consumer again, a step a call, and nothing twice
-- holds: C5
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop'), core.create_namespace('mall');
select core.create_consumer('shop', 'mail', '{a.*}');
select core.emit('shop', 'a.one', '{"n": 1}', '{"headers": {"h": "1"}, "tags": ["t"], "ordering_key": "k", "correlation_id": "c"}');
select core.emit('mall', 'a.one');
select core.emit('shop', t) from unnest('{a.two,b.two,a.three,a.four}'::text[]) t;
update nexus_test.clock set frozen = '2030-01-02 00:00Z';
select core.emit('shop', 'a.five'), core.emit('shop', 'a.later', '{}', '{"delay": "1 h"}');
create function pg_temp.got() returns text[] language sql as $$
  with gone as (delete from pgmq.q_core_events_shop__mail returning msg_id, message)
  select array_agg(message ->> 'eventType' || coalesce(' ' || (message ->> 'replay'), '') order by msg_id) from gone $$;
create temp table first as select message, headers from pgmq.q_core_events_shop__mail where message ->> 'eventType' = 'a.one';
select is(pg_temp.got(), '{a.one,a.two,a.three,a.four,a.five}', 'what was emitted');

select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "*"}', '{"dry_run": true}')), '("dry run",5)', 'a dry run counts what its patterns match');
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "*"}', '{"dry_run": true, "limit": 2}')), '("dry run",2)', 'up to the limit');
select is((select count(*)::int from core.replays), 0, 'and leaves nothing');
select is(pg_temp.got(), null, 'nor delivers');

-- two rows of the log a call, those of others too
select is((select (replay_id, state, looked, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "r", "step": 2}')), '(r,running,2,1)', 'a step');
select is((select message - 'replay' from pgmq.q_core_events_shop__mail), (select message from first), 'the event as it was');
select is((select headers from pgmq.q_core_events_shop__mail), (select headers from first), 'with its headers');
select is((select (state, looked, delivered, done_to)::text from core.replays), (select format('(running,2,1,%s)', max(event_id)) from core.event_log where namespace = 'mall'), 'seen');
select core.emit('shop', 'a.meanwhile');
select core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "r", "step": 2}') from generate_series(1, 4);
select is(pg_temp.got(), '{"a.one r",a.meanwhile,"a.two r","a.three r","a.four r","a.five r"}', 'each once, and nothing that was emitted meanwhile');
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "r"}')), '(done,5)', 'done');
select is(pg_temp.got(), null, 'it delivers nothing more');
select is((select array_agg(event_type order by msg_id) from (select msg_id, message ->> 'eventType' as event_type from pgmq.q_core_events_shop where message ? 'replay') q), null, 'nobody else gets them');
select throws_ok(format('select core.replay_events(%L, %L, %L, %L)', 'shop', c, f, o), 'NX216', format('replay ''r'' of namespace ''shop'' is one with another %s', w), 'another ' || w)
  from (values ('default', '{"type": "a.*"}', '{"replay_id": "r"}', 'consumer'), ('mail', '{"type": "a.one"}', '{"replay_id": "r"}', 'filter'), ('mail', '{"type": "a.*"}', '{"replay_id": "r", "limit": 9}', 'limit')) v(c, f, o, w);

-- filters
create function pg_temp.of(p_filter jsonb, p_options jsonb = '{}') returns text[] language plpgsql as $$ begin
  perform core.replay_events('shop', 'mail', p_filter, p_options); return (select array_agg(split_part(g, ' ', 1)) from unnest(pg_temp.got()) g); end $$;
select is(pg_temp.of('{"type": "a.two"}'), '{a.two}', 'a type');
select is(pg_temp.of('{"tag": "t"}'), '{a.one}', 'a tag');
select is(pg_temp.of('{"ordering_key": "k"}'), '{a.one}', 'an ordering key');
select is(pg_temp.of('{"correlation_id": "c"}'), '{a.one}', 'a correlation');
select is(pg_temp.of('{"from": "2030-01-02T00:00:00Z"}'), '{a.five,a.meanwhile}', 'from a time on');
select is(pg_temp.of('{"until": "2030-01-02T00:00:00Z"}'), '{a.one,a.two,a.three,a.four}', 'before a time');
select is(pg_temp.of((select jsonb_build_object('event_ids', jsonb_agg(event_id)) from core.event_log where event_type in ('a.two', 'b.two', 'a.four'))), '{a.two,a.four}', 'ids, of what it has patterns for');
select is(pg_temp.of('{"type": "*"}', '{"limit": 2}'), '{a.one,a.two}', 'the first ones');
select is(pg_temp.of('{"type": "*"}', '{"limit": 2, "replay_id": "two"}'), '{a.one,a.two}', 'by name');
select is(pg_temp.of('{"type": "*"}', '{"limit": 2, "replay_id": "two"}'), null, 'which ends with its limit');
update nexus_test.clock set frozen = '2030-01-02 02:00Z';
select is(pg_temp.of('{"type": "a.later"}'), '{a.later}', 'what was due later, once it was');
select is((select count(*)::int from core.replay_events('shop', 'default', '{"type": "b.two"}')), 1, 'default has no patterns');
select is((select array_agg(message ->> 'eventType') from pgmq.q_core_events_shop where message ? 'replay'), '{b.two}', 'and gets every type');

-- a rate: sixty a minute are one a second
select is((select (state, delivered, next_at)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "slow", "rate": "60/min"}')), '(running,1,"2030-01-02 02:00:01+00")', 'one at once, and when the next one is due');
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "slow", "rate": "60/min"}')), '(running,1)', 'none before');
update nexus_test.clock set frozen = '2030-01-02 02:00:01Z';
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "slow", "rate": "60/min"}')), '(running,2)', 'then one');
update nexus_test.clock set frozen = '2030-01-02 03:00Z';
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "slow", "rate": "60/min"}')), '(running,3)', 'a pause makes no flood');
select is((select (state, delivered)::text from core.replay_events('shop', 'mail', '{"type": "a.*"}', '{"replay_id": "slow"}')), '(done,7)', 'without a rate it goes on at once');

select throws_ok(format('select core.replay_events(%L, %L, %L, %L)', n, c, f, o), e, null, concat_ws(' ', e, f, o))
  from (values ('shop', 'nobody', '{"type": "*"}', '{}', 'NX102'), ('none', 'mail', '{"type": "*"}', '{}', 'NX101'), ('shop', 'mail', '{}', '{}', 'NX009'), ('shop', 'mail', '{"typ": "*"}', '{}', 'NX004'),
    ('shop', 'mail', '{"type": "a*"}', '{}', 'NX008'), ('shop', 'mail', '{"type": 3}', '{}', 'NX009'), ('shop', 'mail', '{"tag": ""}', '{}', 'NX009'), ('shop', 'mail', '{"from": "2030-01-01"}', '{}', 'NX005'),
    ('shop', 'mail', '{"event_ids": []}', '{}', 'NX009'), ('shop', 'mail', '{"event_ids": [1.5]}', '{}', 'NX009'), ('shop', 'mail', '{"type": "*"}', '{"replay_id": ""}', 'NX005'), ('shop', 'mail', '{"type": "*"}', '{"limit": 0}', 'NX005'),
    ('shop', 'mail', '{"type": "*"}', '{"rate": "fast"}', 'NX005'), ('shop', 'mail', '{"type": "*"}', '{"step": 10001}', 'NX005'), ('shop', 'mail', '{"type": "*"}', '{"dry_run": 1}', 'NX005'), ('shop', 'mail', '{"type": "*"}', '{"batch": 1}', 'NX004')) v(n, c, f, o, e);
select is((select count(*)::int from core.audit_log where action = 'replay_events'), (select count(*)::int from core.replays), 'each is on record once');
select core.purge_queue('core_events_shop__mail', 'core_events_shop__mail');
select core.drop_consumer('shop', 'mail');
select is((select array_agg(consumer) from core.replays), '{default}', 'its replays go with a consumer');
