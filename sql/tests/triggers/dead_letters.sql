-- DL3: what is given up is delivered to a handler, once, whatever it was
-- holds: DL3
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_operator login in role nexus_operator; create role t_app login in role nexus_producer, nexus_consumer;
select core.create_namespace('shop'), core.create_namespace('other');
select core.create_trigger('shop', n, '{"event": {"pattern": "a.made"}}', t) from (values ('mail', 'go:mail'), ('post', 'go:post')) v(n, t);
create function pg_temp.t(p_name text, p_source jsonb = '{}', p_options jsonb = '{}', p_target text = 'go:dead', p_namespace text = 'shop') returns uuid language sql as $$
  select core.create_trigger(p_namespace, p_name, jsonb_build_object('dead_letter', p_source), p_target, p_options) $$;
create function pg_temp.got() returns text[] language sql as $$
  with gone as (delete from pgmq.q_core_events_shop__triggers where message ? 'deadLetterId' returning message)
  select array_agg(message ->> 'trigger' || ' ' || (message #>> '{payload,source}') order by message ->> 'trigger', (message ->> 'deadLetterId')::bigint) from gone $$;
create function pg_temp.claimed(p_consumer text, p_read int = 1) returns setof record language sql as $$
  select c.msg_id, c.read_ct, c.last_read_at from core_node.claim('core_events_shop__' || p_consumer, '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed' $$;
create function pg_temp.fail(p_consumer text, p_action text = 'reject', p_error text = 'broken') returns text language plpgsql as $$
declare v jsonb; v_queue text := 'core_events_shop' || case p_consumer when 'default' then '' else '__' || p_consumer end; begin
  select jsonb_agg(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', p_action, 'error', p_error)) into v
    from core_node.claim(v_queue, '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed';
  return (select string_agg(s.outcome, ' ') from core_node.settle(v_queue, 'n', '{}', '{}', '{}', v) s); end $$;
create function pg_temp.ack(p_consumer text) returns text language plpgsql as $$
declare v record; begin
  select array_agg(c.msg_id) as ids, array_agg(c.read_ct) as cts, array_agg(c.last_read_at) as ats into v
    from core_node.claim('core_events_shop__' || p_consumer, '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed';
  return (select string_agg(s.outcome, ' ') from core_node.settle('core_events_shop__' || p_consumer, 'n', v.ids, v.cts, v.ats) s); end $$;

-- who may, and what it can be
set session authorization t_app;
set search_path = tap, pg_catalog;
select throws_ok($$select pg_temp.t('mine')$$, 'NX401', null, 'who may not operate sees no dead letters');
set session authorization t_operator;
set search_path = tap, pg_catalog;
select isnt(pg_temp.t('all'), null, 'an operator makes one of all'), isnt(pg_temp.t('all'), null, 'again nothing happens');
select throws_ok(format('select pg_temp.t(''bad'', %L)', s), e, null, s || ' is refused')
  from (values ('{"source": "letter"}', 'NX014'), ('{"source": 1}', 'NX014'), ('{"target": ""}', 'NX014'), ('{"target": "mail"}', 'NX006'), ('{"kind": "task"}', 'NX004')) v(s, e);
select throws_ok(format('select pg_temp.t(''bad'', ''{}'', %L)', o), 'NX014', null, o || ' is refused') from unnest(array['{"retry": {"max_attempts": 2}}', '{"match_back": "beginning"}']) o;
select throws_ok($$select pg_temp.t('bad', '{}', '{"resolve": 1}')$$, 'NX005', null, 'resolve is true or false');
select throws_ok($$select core.create_trigger('shop', 'bad', '{"event": {"pattern": "a"}}', 'go:a', '{"resolve": true}')$$, 'NX014', null, 'and nothing of events');
select throws_ok($$select pg_temp.t('all', '{"source": "task"}')$$, 'NX212', null, 'another source is a conflict');
select throws_ok($$select pg_temp.t('all', '{}', '{"resolve": true}')$$, 'NX212', null, 'another option');
select is((select (kind, source, retry -> 'max_attempts')::text from core.trigger_status where name = 'all'), '(dead_letter,{},1)', 'it has one attempt');
select is((select why from core.test_triggers('shop', 'nexus.dead_letter') where name = 'all'), 'kind', 'no event is one');
reset session authorization;
select pg_temp.t('tasks', '{"source": "task"}'), pg_temp.t('fired', '{"source": "trigger"}'), pg_temp.t('maild', '{"trigger": "mail"}'), pg_temp.t('target', '{"target": "go:mail", "source": "trigger"}'), pg_temp.t('off', '{}', '{"enabled": false}'), pg_temp.t('there', p_namespace => 'other');

-- each kind
select core.emit('shop', 'b.made', '{"n": 1}', '{"correlation_id": "c", "depth": 2}');
select is(pg_temp.fail('default'), 'buried', 'a delivery is given up');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 1, 'once for each trigger that matches');
select is((select message - '{eventId,eventUid,emittedAt,triggerId,causationUid,payload}'::text[] || (message -> 'payload') - '{first_attempt_at,last_attempt_at,original,dead_letter_id}'::text[] from pgmq.q_core_events_shop__triggers),
  '{"depth": 3, "trigger": "all", "eventType": "go:dead", "namespace": "shop", "producerNodeId": null, "sourceType": "nexus.dead_letter", "correlationId": "c", "source": "delivery", "consumer": "default", "reason": "rejected", "attempts": 1, "last_error": "broken", "trigger_id": null, "target": null, "deadLetterId": 0}'::jsonb
  || jsonb_build_object('deadLetterId', (select max(dead_letter_id) from core.dead_letters)), 'with what is known of it');
select is((select message #> '{payload,original,payload}' from pgmq.q_core_events_shop__triggers), '{"n": 1}', 'and what it was');
select is((select (message ->> 'causationUid')::uuid = l.event_uid from pgmq.q_core_events_shop__triggers, core.dead_letters l), true, 'its cause is the event');
select pg_temp.got();
select core.emit('shop', 'a.made');
select is(pg_temp.fail('triggers'), 'buried buried', 'deliveries of triggers');
select is(pg_temp.got(), '{"all trigger","all trigger","fired trigger","fired trigger","maild trigger","target trigger"}', 'go by trigger and target');
select core.create_consumer('shop', 'crm', '{c.*}');
select core.emit('shop', 'c.made');
select is(pg_temp.fail('crm'), 'buried', 'a named consumer''s'), is(pg_temp.got(), '{"all delivery"}', 'as well');
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
select n, 'default', k.kind, jsonb_build_object('queue', n, 'msgId', 1), 'a', '1', 1, core.now(), 'r' from core_private.source_kinds() k, unnest(array['shop', 'other']) n;
select is((select array_agg(x) from unnest(pg_temp.got()) x where x !~ '^all'), '{"fired trigger","tasks task"}', 'each of its kind');
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, event_type, body, body_type, attempts, failed_at, reason) values ('shop', 'jobs', 'lane', '{"n": 1}', 'a', '\x0102', 'application/x', 1, core.now(), 'r');
select is((select message #> '{payload,original}' from pgmq.q_core_events_shop__triggers where message #>> '{payload,source}' = 'lane'), '{"body": "AQI=", "body_type": "application/x"}', 'what is no JSON');
select is((select count(*)::int from pgmq.q_core_events_other__triggers), 7, 'each namespace has its own');
select pg_temp.got();

-- a handler that fails, is rejected or dies
select core.purge_queue('core_events_shop', 'core_events_shop');
select core.emit('shop', 'b.made');
select pg_temp.fail('default');
create temp table dead as select max(dead_letter_id) as id from core.dead_letters;
select is(pg_temp.fail('triggers', 'retry', 'no luck'), 'buried', 'its handler fails, and is not tried again');
select is((select (handler_failures, handler_error, handler_failed_at > core.now() - interval '1 min', status)::text from core.dead_letters, dead where dead_letter_id = id), '(1,"no luck",t,pending)', 'the dead letter says so, and stays');
select is((select count(*)::int from core.dead_letters, dead where dead_letter_id > id), 0, 'there is no new one');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 0, 'nor a delivery');
select is((select handler_failures from core.unresolved_dead_letters, dead where dead_letter_id = id), 1, 'it is shown');
insert into pgmq.q_core_events_shop__triggers (vt, read_ct, last_read_at, message, headers)
select core.now(), 1, core.now() - interval '1 min', jsonb_build_object('namespace', 'shop', 'eventType', 'go:dead', 'sourceType', 'nexus.dead_letter', 'payload', '1', 'deadLetterId', id, 'triggerId', (select trigger_id from core.triggers where name = 'all')), jsonb_build_object('nexus-retry', '{"max_attempts": 1}'::jsonb) from dead;
select is((select array_agg(outcome) from core_node.claim('core_events_shop__triggers', '{*}', '{0}', 10, '30 s')), '{window,buried}', 'one whose process died is not given out again');
select is((select (handler_failures, handler_error)::text from core.dead_letters, dead where dead_letter_id = id), '(2,"not acknowledged (process lost)")', 'but noted');
insert into pgmq.q_core_events_shop__triggers (vt, message) select core.now(), jsonb_build_object('namespace', 'shop', 'eventType', 'go:dead', 'sourceType', 'a', 'payload', '1', 'deadLetterId', id) from dead;
select is(pg_temp.fail('triggers'), 'buried', 'what only says it is one');
select is((select count(*)::int from core.dead_letters, dead where dead_letter_id > id), 1, 'is a dead letter as any other');
select pg_temp.got();

-- one that succeeds
select core.emit('shop', 'b.made');
select pg_temp.fail('default');
update dead set id = (select max(dead_letter_id) from core.dead_letters);
select is(pg_temp.ack('triggers'), null, 'a handler succeeds'), is((select status from core.dead_letters, dead where dead_letter_id = id), 'pending', 'which resolves nothing');
select core.delete_trigger('shop', n) from unnest(array['all', 'tasks', 'fired', 'maild', 'mail', 'target', 'post']) n;
select pg_temp.t('solves', '{}', '{"resolve": true}');
create function pg_temp.die() returns void language plpgsql as $$ begin
  perform core.emit('shop', 'b.made'); perform pg_temp.fail('default'); update dead set id = (select max(dead_letter_id) from core.dead_letters); end $$;
create function pg_temp.how() returns text language sql as $$ select concat_ws(' ', status, resolution, handler_failures) from core.dead_letters, dead where dead_letter_id = id $$;
select pg_temp.die(), pg_temp.ack('triggers');
select is(pg_temp.how(), 'resolved handled_by_handler 0', 'with resolve it is');
select is((select count(*)::int from core.audit_log, dead where action = 'resolve_dead_letters' and target = id::text), 1, 'and recorded');
select pg_temp.die(), core.ack('shop', 'triggers', c.msg_id, c.read_ct, c.last_read_at) from core_node.claim('core_events_shop__triggers', '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed';
select pg_temp.die();
select is(count(core.ack('shop', 'triggers', c.msg_id, c.read_ct, c.last_read_at))::int, 1, 'an ack of one') from core_node.claim('core_events_shop__triggers', '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed';
select is(pg_temp.how(), 'resolved handled_by_handler 0', 'resolves it');
select pg_temp.die(), pg_temp.fail('triggers');
select is(pg_temp.how(), 'pending 1', 'a failure does not');
select pg_temp.die();
select count(*) from core.claim_dead_letters('{"namespace": "shop"}');
select pg_temp.ack('triggers');
select is(pg_temp.how(), 'reprocessing 0', 'nor what somebody has claimed');
select pg_temp.die();
select core.discard_dead_letter(id, 'x') from dead;
select pg_temp.ack('triggers');
select is(pg_temp.how(), 'resolved discarded 0', 'nor what is settled');

select pg_temp.t('lanes', '{"source": "lane"}', '{"resolve": true}'), pg_temp.t('looks'), core.delete_trigger('shop', 'solves');
select pg_temp.die();
select pg_temp.ack('triggers');
select is(pg_temp.how(), 'pending 0', 'nor does one without the option, where another has it');

-- loops
select core.emit('shop', 'b.made', '{}', '{"depth": 8}');
select pg_temp.fail('default');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 0, 'what lies too deep fires nothing');
select is((select (event_type, why, deliveries)::text from core.trigger_drops), '(nexus.dead_letter,depth,1)', 'and is noted');

-- a queue that is lost
drop table pgmq.q_core_events_shop__triggers;
select core.emit('shop', 'b.made');
select is(pg_temp.fail('default'), 'buried', 'where the queue of triggers is lost, things are given up all the same');
select is((select count(*)::int from core.delayed where message ? 'deadLetterId'), 1, 'and their delivery waits for it');
