-- O6: what cannot be emitted holds nobody up, is tried again by the namespace's policy, and ends as a dead letter that can be replayed
-- holds: O6, O7
select core.create_namespace('shop', '{"retry": {"max_attempts": 2, "base": "1 min", "jitter": 0}}'), core.create_namespace('bad');
update nexus_test.clock set frozen = '2030-01-01 00:00:00Z';
select core.schedule_event('shop', 'x', to_jsonb(g), '2030-01-01 00:00:00Z', jsonb_build_object('schedule_id', format('aaaaaaaa-0000-0000-0000-%s', lpad(g::text, 12, '0')), 'headers', '{"h": "1"}'::jsonb)) from generate_series(1, 7) g;
select core.schedule_event('bad', 'x', '1', '2030-01-01 00:00:00Z');
drop table pgmq.q_core_events_bad;
create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
  raise exception using errcode = coalesce(current_setting('test.code', true), '23514'), message = 'no fives';
end $$;
create trigger no_fives before insert on pgmq.q_core_events_shop for each row when (new.message ->> 'payload' = '5') execute function pg_temp.refuse();
select is(core.fire_due_events(), 6, 'all but the two that cannot be emitted');
select is((select array_agg(payload::text order by payload) from core.event_log), '{1,2,3,4,6,7}', 'those');
select is((select array_agg((message ->> 'payload') order by msg_id) from pgmq.q_core_events_shop), '{1,2,3,4,6,7}', 'with their deliveries');
select is((select (status, attempts, last_error, due_at = '2030-01-01 00:01:00Z', event_id)::text from core.scheduled_events where namespace = 'shop' and status <> 'appended'), '(pending,1,"23514 no fives",t,)', 'it is due again by the policy');
select matches((select last_error from core.scheduled_events where namespace = 'bad'), '^NX110', 'so is that of a queue that is gone');
update nexus_test.clock set frozen = '2030-01-01 00:00:59Z';
select is(core.fire_due_events(), 0, 'not before');
update core.scheduled_events set due_at = '2031-01-01 00:00:00Z' where namespace = 'bad';
update nexus_test.clock set frozen = '2030-01-01 00:01:00Z';
select core.schedule_event('shop', 'x', '8', '2030-01-01 00:01:00Z');
set local test.code = '40001';
select throws_ok('select core.fire_due_events()', '40001', 'no fives', 'what passes by itself is raised');
set local test.code = '53100';
select throws_ok('select core.fire_due_events()', '53100', 'no fives', 'that too');
set local test.code = '23514';
select is((select attempts from core.scheduled_events where payload = '5'), 1, 'and counts as no attempt');
select is(core.fire_due_events(), 1, 'the new one is emitted beside it');
select is((select (status, attempts, finished_at)::text from core.scheduled_events where payload = '5'), '(failed,2,)', 'attempts are used up');
select is((select to_jsonb(l) - '{envelope,body,body_type,claim_token,claimed_by,consumer,deadline,dlq_msg_id,lane,lane_seq,handler_error,handler_failed_at,handler_failures,msg_id,queue_name,event_id,resolution,resolved_at,resolved_by,resolved_reason}'::text[] from core.dead_letters l),
  '{"dead_letter_id": 1, "namespace": "shop", "event_type": "x", "source_kind": "task", "source_ref": {"namespace": "shop", "scheduleId": "aaaaaaaa-0000-0000-0000-000000000005"}, "round": 0, "event_uid": "aaaaaaaa-0000-0000-0000-000000000005",
    "payload": 5, "headers": {"h": "1"}, "attempts": 2, "first_attempt_at": "2030-01-01T00:00:00+00:00", "last_attempt_at": "2030-01-01T00:01:00+00:00", "failed_at": "2030-01-01T00:01:00+00:00",
    "reason": "attempts used up", "last_error": "23514 no fives", "ordering_key": null, "status": "pending", "replay_of": null, "replay_count": 0, "replay_msg_id": null}', 'and it is a dead letter');
select is(core.cancel_scheduled_event('aaaaaaaa-0000-0000-0000-000000000005'), 'not_found', 'which cannot be cancelled');
select throws_ok($$select core.reschedule_event('aaaaaaaa-0000-0000-0000-000000000005', '2030-02-01Z')$$, 'NX210', null, 'nor rescheduled');
select is(core_private.remove_tombstones(), 0, 'it is no tombstone');
update nexus_test.clock set frozen = '2030-03-01 00:00:00Z';
select is((core_private.remove_tombstones(3), core_private.remove_tombstones(3), core_private.remove_tombstones(3), core_private.remove_tombstones(3))::text, '(3,3,1,0)', 'tombstones go after 30 days, in batches');
select is((select array_agg((payload, status)::text order by payload::text) from core.scheduled_events), array['(1,pending)', '(5,failed)'], 'what is pending or a dead letter stays');
select core_private.apply_retention();
select is((select count(*)::int from core.dead_letters), 1, 'for ever');

-- L3: the replay is dispatched by kind
select is((select (matched, done, skipped)::text from core.replay_dead_letters('{"source": "task"}', '{"dry_run": true}')), '(1,1,0)', 'a dry run');
select is((select status from core.scheduled_events where payload = '5'), 'failed', 'changes nothing');
select is(core.replay_dead_letter(1), null, 'no message yet');
select is((select (status, attempts, due_at = core.now())::text from core.scheduled_events where payload = '5'), '(pending,0,t)', 'it is pending, attempts start afresh');
select is((select (status, resolution, resolved_by)::text from core.dead_letters), format('(resolved,replayed,%s)', session_user), 'the dead letter is resolved');
select throws_ok('select core.replay_dead_letter(1)', 'NX205', null, 'once');
select core.fire_due_events(); update nexus_test.clock set frozen = '2030-03-01 00:01:00Z'; select core.fire_due_events();
select is((select (round, replay_of, replay_count)::text from core.dead_letters where status = 'pending'), '(1,1,1)', 'failed again: the next round');
update nexus_test.clock set frozen = '2030-04-02 00:00:00Z';
select is(core_private.apply_retention() - '{delivery_errors,expired,nodes,audit_log,replays,abandoned_executions,trigger_drops,workflow_runs}'::text[], '{"dead_letters": 1, "scheduled_events": 0}', 'an old round goes alone');
select is((select (matched, done)::text from core.replay_dead_letters(jsonb_build_object('ids', jsonb_build_array((select dead_letter_id from core.dead_letters))), '{"payload": {"n": 6}}')), '(1,1)', 'with an edited payload');
select is(core.fire_due_events(), 1, 'it fires');
select is((select payload from core.event_log where event_uid = 'aaaaaaaa-0000-0000-0000-000000000005'), '{"n": 6}', 'with that payload');
select is((select payload from core.dead_letters), '5', 'the original is kept');

-- a dead letter whose source is gone
select core.schedule_event('shop', 'x', '5', '2030-04-01 00:00:00Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000009"}');
select core.fire_due_events(); update nexus_test.clock set frozen = '2030-04-02 00:01:00Z'; select core.fire_due_events();
select core.discard_dead_letter((select dead_letter_id from core.dead_letters where status = 'pending'), 'no use');
update nexus_test.clock set frozen = '2030-06-01 00:00:00Z';
select is(core_private.apply_retention() -> 'scheduled_events', '1', 'a failed event goes with its last dead letter');
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) values ('shop', 'task', '{"scheduleId": "aaaaaaaa-0000-0000-0000-000000000010"}', '1', 1, core.now(), 'r');
select throws_ok(format('select core.replay_dead_letter(%s)', (select dead_letter_id from core.dead_letters where status = 'pending')), 'NX207', null, 'one whose event is gone cannot be replayed');
