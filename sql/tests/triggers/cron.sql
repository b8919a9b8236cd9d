-- T10: a schedule as the source of a trigger
-- holds: T10
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_consumer login in role nexus_consumer;
select core.create_namespace('shop'), core.create_consumer('shop', 'crm', '{*}'), core.create_trigger('shop', 'all', '{"event": {"pattern": "*"}}', 'go:all');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
create function pg_temp.t(p_name text, p_cron jsonb, p_options jsonb = '{}') returns uuid language sql as $$
  select core.create_trigger('shop', p_name, jsonb_build_object('cron', p_cron), 'go:' || p_name, p_options) $$;
create function pg_temp.at(p_time text) returns int language plpgsql as $$ begin
  update nexus_test.clock set frozen = ('2026-12-01 ' || p_time || 'Z')::timestamptz; return core_private.fire_tasks(100); end $$;
create function pg_temp.got(p_name text) returns int language plpgsql as $$ declare v int; begin
  with gone as (delete from pgmq.q_core_events_shop__triggers where message ->> 'eventType' = 'go:' || p_name returning 1) select count(*) into v from gone; return v; end $$;

-- who may, and what it can be
set session authorization t_consumer;
set search_path = tap, pg_catalog;
select throws_ok($$select pg_temp.t('tick', '{"cron_expression": "* * * * *"}')$$, 'NX401', null, 'who may not emit schedules nothing');
set session authorization t_app;
set search_path = tap, pg_catalog;
select isnt(pg_temp.t('tick', '{"cron_expression": "* * * * *", "payload": {"a": 1}}'), null, 'who may emit as well does');
select isnt(pg_temp.t('tick', '{"cron_expression": "* * * * *", "payload": {"a": 1}}'), null, 'again nothing happens');
select throws_ok($$select pg_temp.t('tick', '{"cron_expression": "*/2 * * * *", "payload": {"a": 1}}')$$, 'NX212', null, 'another schedule is a conflict');
select throws_ok(format('select pg_temp.t(''bad'', %L)', c), e, null, c || ' is refused')
  from (values ('{}', 'NX014'), ('{"task": 7}', 'NX014'), ('{"cron_expression": 7}', 'NX014'), ('{"task": "none"}', 'NX108'), ('{"task": "none", "cron_expression": "* * * * *"}', 'NX004'), ('{"cron_expression": "never"}', 'NX011'), ('{"cron_expression": "* * * * *", "timezone": "Nowhere"}', 'NX012'), ('{"cron_expression": "* * * * *", "owner": "me"}', 'NX004')) v(c, e);
reset session authorization;
select is((select (kind, source, retry -> 'max_attempts')::text from core.trigger_status where name = 'tick'), '(cron,"{""payload"": {""a"": 1}, ""cron_expression"": ""* * * * *""}",3)', 'it is shown as it was asked for');
select is((select (name, cron_expression, event_type, payload, to_triggers, registered_by)::text from core.scheduled_tasks), '(trigger/tick,"* * * * *",nexus.cron,"{""a"": 1}",t,t_app)', 'and has a task');

-- to the trigger alone
select is(pg_temp.at('12:01:05'), 1, 'a slot');
select is((select message - '{eventId,eventUid,emittedAt,triggerId,scheduledTaskId}'::text[] from pgmq.q_core_events_shop__triggers), '{"slot": "2026-12-01T12:01:00.000000Z", "payload": {"a": 1}, "trigger": "tick", "eventType": "go:tick", "namespace": "shop", "sourceType": "nexus.cron", "producerNodeId": null}', 'is delivered to its handler');
select is((select (message ->> 'eventUid')::uuid = s.event_uid from pgmq.q_core_events_shop__triggers, core.task_slots s), true, 'under the uid of the slot');
select is((select count(*) from pgmq.q_core_events_shop) + (select count(*) from pgmq.q_core_events_shop__crm), 0::bigint, 'and to nobody else');
select is((select (event_type, metadata)::text from core.event_log), '(nexus.cron,"{""toTriggers"": true}")', 'it is in the log');
select core.create_consumer('shop', 'late', '{*}', '{"from": "beginning"}'), core.create_trigger('shop', 'late', '{"event": {"pattern": "*"}}', 'go:late', '{"match_back": "beginning"}');
select core.run_sweep('backfills');
select is((select count(*) from pgmq.q_core_events_shop__late) + pg_temp.got('late'), 0::bigint, 'where nobody finds it later');
select is((select count(*)::int from core.event_status((select event_id from core.event_log))), 0, 'as a delivery to a consumer');
select is(pg_temp.got('tick'), 1, 'its queue is empty');
select core.run_task_now('shop', 'trigger/tick');
select is(pg_temp.got('tick'), 1, 'a run by hand, too');

-- policies are those of schedules
select pg_temp.t(m, jsonb_build_object('cron_expression', '0 * * * *', 'misfire', m)) from unnest(array['fire_once', 'skip', 'backfill']) m;
select pg_temp.t('busy', '{"cron_expression": "* * * * *", "overlap": "skip"}'), core.disable_trigger('shop', 'tick');
select pg_temp.at('15:30:05');
select is(pg_temp.got('fire_once'), 1, 'of three that were missed fire_once fires one'), is(pg_temp.got('skip'), 0, 'skip none'), is(pg_temp.got('backfill'), 3, 'backfill three');
select is(pg_temp.got('tick'), 0, 'one that is disabled fires none');
select pg_temp.got('busy'), pg_temp.at('15:31:05');
select pg_temp.at('15:32:05');
select is(pg_temp.got('busy'), 1, 'while a handler is under way the next slot is skipped');
select pg_temp.at('15:33:05');
select is(pg_temp.got('busy'), 1, 'and not when it is done');

-- a task that is there
select core.schedule_task('shop', 'report', '30 16 * * *', 'report.due');
select pg_temp.t('mail', '{"task": "report"}'), pg_temp.t('mail2', '{"task": "report"}', '{"consumer": "slow"}');
select pg_temp.at('16:30:05');
select is((select (message ->> 'sourceType')::text from pgmq.q_core_events_shop__triggers where message ->> 'eventType' = 'go:mail'), 'report.due', 'its events are delivered to the trigger');
select is((select count(*)::int from pgmq.q_core_events_shop__slow), 1, 'to each');
select is((select count(*)::int from pgmq.q_core_events_shop__crm), 1, 'and to consumers as ever'), is(pg_temp.got('all'), 1, 'and triggers of events');
select core.delete_trigger('shop', 'mail2');
select is((select count(*)::int from core.scheduled_tasks where name = 'report'), 1, 'a task that was there stays without the trigger');
select core.delete_task('shop', 'report');
select is((select (enabled, source)::text from core.trigger_status where name = 'mail'), '(t,"{""task"": ""report""}")', 'and the trigger without the task');

-- changes
select pg_temp.t('tick', '{"cron_expression": "*/5 * * * *"}', '{"replace": true, "enabled": true}');
select is((select (cron_expression, payload, to_triggers)::text from core.scheduled_tasks where name = 'trigger/tick'), '("*/5 * * * *",{},t)', 'replaced, its task is as well');
select pg_temp.at('16:35:05');
select is(pg_temp.got('tick'), 1, 'and fires by that');
select core.schedule_task('shop', 'nightly', '0 0 * * *', 'night');
select pg_temp.t('tick', '{"task": "nightly"}', '{"replace": true}');
select is((select count(*)::int from core.scheduled_tasks where name = 'trigger/tick'), 0, 'with another task the one that was made goes');
select core.schedule_task('shop', 'trigger/mine', '0 0 * * *', 'night');
select throws_ok($$select pg_temp.t('mine', '{"cron_expression": "* * * * *"}')$$, 'NX208', null, 'a task of that name is not taken over');
select core.delete_trigger('shop', n) from unnest(array['busy', 'skip']) n;
select is((select array_agg(name order by name) from core.scheduled_tasks), '{nightly,trigger/backfill,trigger/fire_once,trigger/mine}', 'a task that was made goes with its trigger');
select lives_ok($$select core.drop_namespace('shop', 'shop', true)$$, 'and all with the namespace');
