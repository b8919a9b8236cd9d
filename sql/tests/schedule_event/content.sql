-- O1: what is refused, what is kept, and what a repeated call means
-- holds: O1, O2
select core.create_namespace('shop'), core.create_namespace('mail');
update nexus_test.clock set frozen = '2030-01-01 00:00:00Z';
create function pg_temp.schedule(p_options jsonb, p_payload jsonb = '{"n": 1}', p_at timestamptz = '2030-01-02 00:00:00Z', p_ns text = 'shop', p_type text = 'x') returns uuid language sql as $$
  select core.schedule_event(p_ns, p_type, p_payload, p_at, p_options)
$$;
select throws_ok(format('select pg_temp.schedule(%L)', o), c, null, c || ' for ' || left(o, 60))
  from (values ('{"nope": 1}', 'NX004'), ('{"dedupe_key": "k"}', 'NX004'), ('{"delay": "1 h"}', 'NX004'), ('"x"', 'NX005'), ('{"schedule_id": "x"}', 'NX005'), ('{"schedule_id": null}', 'NX005'),
               ('{"headers": {"a": 1}}', 'NX005'), ('{"headers": {"nexus-due": "x"}}', 'NX005'), ('{"tags": "a"}', 'NX005'), ('{"causation_uid": "x"}', 'NX005'),
               ('{"authored_at": "soon"}', 'NX005'), ('{"broadcast": "yes"}', 'NX005'), ('{"depth": -1}', 'NX005'), ('{"ordering_key": ""}', 'NX005'),
               (jsonb_build_object('ordering_key', repeat('k', 513))::text, 'NX604')) v(o, c);
select throws_ok($$select pg_temp.schedule('{}', p_ns => 'nowhere')$$, 'NX101', null, 'unknown namespace');
select throws_ok($$select pg_temp.schedule('{}', p_ns => null)$$, 'NX001', null, 'no namespace');
select throws_ok($$select pg_temp.schedule('{}', p_type => 'a b')$$, 'NX002', null, 'event type');
select throws_ok($$select pg_temp.schedule('{}', null)$$, 'NX003', null, 'no payload');
select throws_ok($$select pg_temp.schedule('{}', to_jsonb(repeat('x', 9000000)))$$, 'NX601', null, 'too large');
select throws_ok(format('select pg_temp.schedule(''{}'', p_at => %L)', a), 'NX006', null, 'at ' || coalesce(a, 'null'))
  from unnest(array[null, 'infinity', '-infinity', '2131-01-01 00:00:00Z']) a;
select is((select count(*)::int from core.scheduled_events), 0, 'nothing of it is kept');

select is(pg_temp.schedule('{"schedule_id": "AAAAAAAA-0000-0000-0000-000000000001", "tags": ["t"], "headers": {}}'), 'aaaaaaaa-0000-0000-0000-000000000001', 'the id that was given');
select is((select (status, fire_at = due_at, created_at = '2030-01-01 00:00:00Z', message_timestamp = created_at, tags, metadata, version, principal, depth, payload_bytes)::text from core.scheduled_events),
          (row('pending'::text, true, true, true, array['t'], '{}'::jsonb, 1, session_user::text, 0, 8))::text, 'what is kept');
select is((select count(*)::int from core.event_log), 0, 'and nothing is emitted yet');
select core.reschedule_event('aaaaaaaa-0000-0000-0000-000000000001', '2030-01-05 00:00:00Z');
update nexus_test.clock set frozen = '2030-01-01 01:00:00Z';
select is(pg_temp.schedule('{"tags": ["t"], "schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}'), 'aaaaaaaa-0000-0000-0000-000000000001', 'the same content again is no error, also after a reschedule');
select is((select (count(*), min(fire_at) = '2030-01-05 00:00:00Z')::text from core.scheduled_events), '(1,t)', 'and changes nothing');
select throws_ok(format($$select pg_temp.schedule('{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}'::jsonb || %L, %L, %L, %L, %L)$$, o, p, a, n, t), 'NX209', null, w || ' differs')
  from (values ('options', '{"tags": ["u"]}', '{"n": 1}', '2030-01-02 00:00:00Z', 'shop', 'x'), ('header', '{"tags": ["t"], "headers": {"h": "1"}}', '{"n": 1}', '2030-01-02 00:00:00Z', 'shop', 'x'),
               ('payload', '{"tags": ["t"]}', '{"n": 2}', '2030-01-02 00:00:00Z', 'shop', 'x'), ('time', '{"tags": ["t"]}', '{"n": 1}', '2030-01-02 00:00:01Z', 'shop', 'x'),
               ('namespace', '{"tags": ["t"]}', '{"n": 1}', '2030-01-02 00:00:00Z', 'mail', 'x'), ('type', '{"tags": ["t"]}', '{"n": 1}', '2030-01-02 00:00:00Z', 'shop', 'y'),
               ('authored_at', '{"tags": ["t"], "authored_at": "2029-01-01T00:00:00Z"}', '{"n": 1}', '2030-01-02 00:00:00Z', 'shop', 'x')) v(w, o, p, a, n, t);
select isnt(pg_temp.schedule('{}'), pg_temp.schedule('{}'), 'without an id each call is one event');
select pg_temp.schedule('{}', p_at => '2029-01-01 00:00:00Z');
select is((select array_agg(due_at) from core.scheduled_events where fire_at = '2029-01-01 00:00:00Z'), array['2030-01-01 01:00:00Z'::timestamptz], 'a time that has passed is due at once');
