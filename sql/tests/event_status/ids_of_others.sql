-- I3: an id that was chosen in one namespace neither blocks, nor shows, nor touches the same id in another
-- holds: I3-ids
select core.create_namespace('mine', '{"retry": {"max_attempts": 1}}'), core.create_namespace('closed', '{"restricted": true, "retry": {"max_attempts": 1}}');
create role t_spy in role nexus_reader, nexus_producer, nexus_operator, nexus_consumer;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
update nexus_test.clock set frozen = '2030-01-01 00:00:00Z';
select core.schedule_event('closed', 'x', '1', '2030-01-02Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}');
set local role t_spy;
select is(core.schedule_event('mine', 'x', '2', '2030-01-02Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}')::text, 'aaaaaaaa-0000-0000-0000-000000000001', 'an id that a closed namespace has is free here');
select is(core.reschedule_event('aaaaaaaa-0000-0000-0000-000000000001', '2030-01-03Z'), 'rescheduled', 'and can be moved');
reset role;
select is((select array_agg(fire_at order by namespace) from core.scheduled_events), '{2030-01-02Z,2030-01-03Z}', 'by itself');
select throws_ok($$select core.schedule_event('mine', 'x', '1', '2030-01-02Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}')$$, 'NX209', null, 'who sees both is told');
update nexus_test.clock set frozen = '2030-01-03 00:00:00Z';
select is(core.fire_due_events(), 2, 'both fire');
select is((select array_agg(namespace order by namespace) from core.event_log where event_uid = 'aaaaaaaa-0000-0000-0000-000000000001'), '{closed,mine}', 'each as its namespace''s event');
select is((select array_agg(distinct status) from core.scheduled_events), '{appended}', 'and have their tombstones');
-- The closed one dies; the spy looks at its own.
select core_node.settle('core_events_closed', null, '{}', '{}', '{}', pg_temp.failed(array[c.msg_id], array[c.read_ct], array[c.last_read_at], '{reject}', '{null}', '{null}', '{secret}', '{secret}')) from core_node.claim('core_events_closed', '{x}', '{1}', 1, '1 min') c where c.outcome = 'claimed';
set local role t_spy;
select is((select (state, dead_letter_id, detail)::text from core.event_log e cross join lateral core.event_status(e.event_id) where e.namespace = 'mine'), '(visible,,)', 'waits');
select core_node.settle('core_events_mine', null, array[c.msg_id], array[c.read_ct], array[c.last_read_at]) from core_node.claim('core_events_mine', '{x}', '{1}', 1, '1 min') c;
select is((select (state, dead_letter_id, detail)::text from core.event_log e cross join lateral core.event_status(e.event_id) where e.namespace = 'mine'), '(settled,,)', 'and nothing of the other one is shown');
reset role;
-- Failures of both have a dead letter each, and replay their own.
select core.schedule_event('closed', 'x', '1', '2030-01-04Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000002"}');
set local role t_spy;
select core.schedule_event('mine', 'x', '1', '2030-01-04Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000002"}');
reset role;
select core_private.fail_scheduled_event(n, 'aaaaaaaa-0000-0000-0000-000000000002', 'no', core.now()) from unnest('{closed,mine}'::text[]) n;
select is((select array_agg(l.namespace || l.round order by l.namespace) from core.dead_letters l where l.source_kind = 'task'), '{closed0,mine0}', 'a first round each');
set local role t_spy;
select lives_ok($$select core.replay_dead_letters('{"namespace": "mine"}')$$, 'it replays its own');
select is(core.cancel_scheduled_event('aaaaaaaa-0000-0000-0000-000000000002'), 'cancelled', 'and cancels it');
reset role;
select is((select array_agg(status order by namespace) from core.scheduled_events where schedule_id = 'aaaaaaaa-0000-0000-0000-000000000002'), '{failed,cancelled}', 'the other one is not touched');
