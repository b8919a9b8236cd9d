-- Runs that triggers and requests start: once each, with what the event came with; what cannot be started is given up.
-- holds: start-by-trigger, T4 (workflows), T5 (workflows), R6 (workflows)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_gone login in role nexus_consumer; create role t_reader login in role nexus_reader;
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p_by interval) returns void language sql as $$ update now_is set t = t + p_by $$;
create function pg_temp.start(p_limit integer = 50) returns text language sql as $$ select concat_ws(' ', started, failed, cardinality(queues)) from core_node.start_runs('shop', 'n', p_limit) $$;
select is(pg_temp.start(), '0 0 0', 'nobody asks for workflows');
select isnt(core.create_trigger('shop', 'orders', '{"event": {"pattern": "order.made"}}', 'workflow:order'), null, 'a trigger before there is the workflow'),
       isnt(core.create_trigger('shop', 'keys', '{"kv": {"collection": "carts"}}', 'workflow:order'), null, 'of keys'),
       isnt(core.create_trigger('shop', 'dead', '{"dead_letter": {}}', 'workflow:order', '{"resolve": true}'), null, 'of dead letters'),
       isnt(core.create_trigger('shop', 'nightly', '{"cron": {"cron_expression": "0 4 * * *", "payload": {"night": true}}}', 'workflow:order'), null, 'of a schedule'),
       isnt(core.create_trigger('shop', 'typo', '{"event": {"pattern": "order.lost"}}', 'workflow:oder'), null, 'of a name that nobody has');
select core_node.register_node('shop', 'n', true, '{x}', '{}', '{default}');
select core.emit('shop', 'order.made', '{"n": 1}', '{"correlation_id": "c-1", "depth": 2, "headers": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}');
select is(pg_temp.start(), '0 0 1', 'it waits');
select is((select array_agg(name order by name) from core.trigger_status where handled), null, 'and is shown as handled by nobody');
create temporary table d as select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step"}]') as def;
select is((select array_agg(name order by name) from core.trigger_status where handled), '{dead,keys,nightly,orders}', 'until the workflow is there: any node starts it');
select is((select (fires, why)::text from core.test_triggers('shop', 'order.made') where name = 'orders'), '(t,)', 'said before as well'),
       is((select why from core.test_triggers('shop', 'order.lost') where name = 'typo'), 'no live node handles the target', 'of the other not');
select is(pg_temp.start(), '1 0 1', 'started');
select is(pg_temp.start(), '0 0 1', 'once');
select is((select row(r.workflow, r.input, r.correlation_id, r.depth, r.causation_uid = e.event_uid, r.idempotency_key = 'shop/' || t.trigger_id || '/' || e.event_uid, w.traceparent)::text
             from core.workflow_runs r join core_private.workflow_runs w using (run_id), core.event_log e, core.triggers t where t.name = 'orders'),
  '(order,"{""n"": 1}",c-1,3,t,t,00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01)', 'with what the event came with');
select is((select (depth, traceparent is not null, correlation_id)::text from core_node.claim_runs('shop', array[(select def from d)], 'n', 1, '30 s')), '(3,t,c-1)', 'which nodes are told');
-- sent by hand again, as a failover or a replay may
create temporary table again as select jsonb_build_object('eventType', 'workflow:order', 'sourceType', 'order.made', 'payload', '{"n": 1}'::jsonb, 'eventUid', e.event_uid, 'triggerId', t.trigger_id, 'depth', '999999999999999') as m from core.event_log e, core.triggers t where t.name = 'orders';
select pgmq.send('core_events_shop__triggers', m) from again;
select is(pg_temp.start(), '1 0 1', 'the same delivery again is done');
select is((select count(*)::int from core.workflow_runs), 1, 'by the run that there is');
select pgmq.send('core_events_shop__triggers', m - 'eventUid' - 'triggerId') from again;
select is(pg_temp.start(), '1 0 1', 'what was sent by hand is a run');
select is((select count(*)::int from core.workflow_runs), 2, 'of its own');

-- all sources
truncate core_private.workflow_runs, core_private.workflow_cursors;
select core.kv_set('shop', 'carts', 'a', '1');
select pg_temp.later('1 day'); select core.tick();
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) values ('shop', 'task', '1', '1', 1, core_private.now(), 'r');
select is(pg_temp.start(2), '2 0 1', 'up to a limit');
select is(pg_temp.start(), '1 0 1', 'and the rest');
select is((select array_agg(coalesce(input ->> 'op', input ->> 'night', input ->> 'reason') order by coalesce(input ->> 'op', input ->> 'night', input ->> 'reason')) from core.workflow_runs), '{insert,r,true}', 'keys, schedules and dead letters start runs');
select is((select resolution from core.dead_letters where source_kind = 'task'), 'handled_by_handler', 'a dead letter is handled by the start of its run');
-- who may not have it any more
select core.emit('shop', 'order.made', '{"n": 2}');
update core.triggers set registered_by_principal = 't_gone'; revoke nexus_consumer from t_gone;
select is(pg_temp.start(), '0 2 1', 'what a role may not have any more, and that it died as well');
select is((select (reason, resolved_at)::text from core.dead_letters where source_kind <> 'task' limit 1), '(principal_revoked,)', 'is buried');
grant nexus_consumer to t_gone;
-- what cannot be started
select pgmq.send('core_events_shop__triggers', jsonb_build_object('eventType', 'workflow:order', 'sourceType', 'x', 'payload', repeat('x', 3000), 'eventUid', gen_random_uuid()));
select is(pg_temp.start(), '0 1 1', 'what is too large');
select is((select (reason, last_error ~ '^NX601: ')::text from core.dead_letters order by dead_letter_id desc limit 1), '(refused,t)', 'is given up, and says why');
select pg_temp.start();
-- in a session of one who may consume
truncate core_private.workflow_runs, core_private.workflow_cursors, core.dead_letters;
select core.emit('shop', 'order.made', '{"n": 3}'), core.emit('shop', 'order.lost');
set session authorization t_app; set search_path = tap, pg_catalog, core;
select is(pg_temp.start(), '1 0 1', 'a node that has no workflow may start it');
reset session authorization;
set session authorization t_reader;
select throws_ok($$select core_node.start_runs('shop', 'n')$$, '42501', null, 'a reader may not');
reset session authorization; set search_path = tap, public, pg_catalog;
-- requests
update core.nodes set last_heartbeat = core_private.now(), state = 'active';
create function pg_temp.asked(p_target text) returns uuid language sql as $$ select core.request('shop', p_target, '{"n": 7}') $$;
create temporary table inbox (id uuid);
insert into inbox select pg_temp.asked('workflow:oder');
select is((select (i.state, i.status, i.error)::text from inbox join core.inbox i on i.inbox_id = id), '(answered,503,"no live node has the handler workflow:oder")', 'a workflow that there is not');
truncate inbox; insert into inbox select pg_temp.asked('workflow:order');
select is(pg_temp.start(), '1 0 2', 'a request');
select is((select (i.state, i.status, i.reply = jsonb_build_object('run_id', r.run_id))::text from inbox join core.inbox i on i.inbox_id = id, core.workflow_runs r where r.input = '{"n": 7}'), '(answered,200,t)', 'is answered with the run');
truncate inbox; insert into inbox select pg_temp.asked('workflow:order');
select core.cancel_request(id) from inbox;
select is(pg_temp.start(), '0 0 2', 'one that was called off');
select is((select count(*)::int from core.workflow_runs where input = '{"n": 7}'), 1, 'starts nothing');
update core.nodes set last_heartbeat = '2020-01-01';
truncate inbox; insert into inbox select pg_temp.asked('workflow:order');
select is((select i.status from inbox join core.inbox i on i.inbox_id = id), 503, 'and without a node nobody starts it');
select is((select array_agg(name order by name) from core.trigger_status where handled), null, 'which triggers say as well');
-- parked, given up, and brought back where it comes
update core.nodes set last_heartbeat = core_private.now(), state = 'active';
select core_node.start_runs('shop', 'n', 50, '10 s');
select core_private.park_unhandled();
select is((select array_agg(event_type) from core.parked), '{workflow:oder}', 'a name without a definition is parked');
select core_node.register_workflow('shop', 'oder', 1, '[{"name": "a", "kind": "step"}]');
update core.nodes set last_heartbeat = core_private.now(), state = 'active';
select core_private.park_unhandled();
select is(pg_temp.start(), '1 0 2', 'and brought back when it has one');
select is((select count(*)::int from core.workflow_runs where workflow = 'oder'), 1, 'which is run');
-- what is started by a handler follows from what that handles
set nexus.cause = '4 01900000-0000-7000-8000-000000000001 c-9';
select core.start_workflow('shop', 'oder', '9');
select is((select (depth, causation_uid, correlation_id)::text from core.workflow_runs where input = '9'), '(5,01900000-0000-7000-8000-000000000001,c-9)', 'one deeper than it');
reset nexus.cause;
select throws_ok($$select core.start_workflow('shop', 'oder', '9', '{"traceparent": "00-x"}')$$, 'NX005', null, 'no traceparent'),
       throws_ok($$select core.start_workflow('shop', 'oder', '9', '{"depth": -1}')$$, 'NX005', null, 'no depth'),
       throws_ok($$select core.start_workflow('shop', 'oder', '9', '{"causation_uid": 7}')$$, 'NX005', null, 'no uid');
