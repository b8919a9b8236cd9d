-- Handlers that deliveries name by key, and the consumers that have such deliveries
-- holds: T0
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_other login in role nexus_consumer;
create role t_operator login in role nexus_operator; create role t_reader login in role nexus_reader;
create schema app authorization t_app; grant usage on schema app to public;
select core.create_namespace('shop'), core.create_namespace('closed', '{"restricted": true}');
create table app.seen (event jsonb); alter table app.seen owner to t_app;
set session authorization t_app;
set search_path = tap, pg_catalog;
create function app.on_event(p jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$
begin if p -> 'payload' = '"bad"' then raise 'no'; end if; insert into seen values (p); end $$;
create function app.other(jsonb) returns void language sql security definer set search_path = app, pg_temp as 'select';
grant usage on schema app to nexus_guard; grant execute on function app.on_event(jsonb) to nexus_guard;
create function pg_temp.said(p_key text, p_options jsonb = '{}', p_namespace text = 'shop') returns text language plpgsql as $$
declare v_column text; begin
  return (select created || coalesce(' ' || left(secret, 6), '') from core.create_handler(p_namespace, p_key, p_options));
exception when others then get stacked diagnostics v_column = column_name; return sqlstate || ' ' || v_column; end $$;
select is(pg_temp.said('sql:seen', '{"function": "app.on_event(jsonb)", "timeout": "9 s"}'), 'true', 'a function is one');
select is(pg_temp.said('sql:seen', '{"function": "app.on_event( jsonb )"}'), 'false', 'said again, nothing happens');
select is(pg_temp.said('sql:seen', '{"function": "app.on_event(jsonb)", "timeout": "8 s"}'), 'NX212 p_options', 'with another timeout it is a conflict');
select is(pg_temp.said('sql:other', '{"function": "app.other(jsonb)"}'), 'NX015 function', 'it is judged as that of core.subscribe');
select is(pg_temp.said('sql:none', j), 'NX006 function', j::text || ' is none') from unnest(array['{}', '{"function": "none(jsonb)"}', '{"function": "\"(jsonb)"}', '{"function": 7}', '{"function": "app.on_event(text)"}']::jsonb[]) j;
select is(pg_temp.said('go:mail'), 'true', 'one of a node');
select is(pg_temp.said('workflow:order'), 'true', 'a workflow');
select is(pg_temp.said('go:mail', '{"timeout": "1 s"}'), 'NX004 timeout', 'these have no options');
select is(pg_temp.said(k), 'NX006 p_key', coalesce(k, 'NULL') || ' is no key') from unnest(array[null, '', 'mail', 'go:', 'go:a b', 'py:mail', 'go:*', 'go:a:b', 'go:' || repeat('x', 101)]) k;
select is(pg_temp.said('webhook:crm', '{"url": "https://a.example"}'), 'NX401 p_namespace', 'a webhook takes an operator');
select is(pg_temp.said('go:mail', '{}', 'closed'), 'NX402 p_namespace', 'a restricted namespace needs a grant');
select is(pg_temp.said('go:mail', '{}', 'none'), 'NX101 p_namespace', 'a namespace that is there');
set session authorization t_operator;
select is(pg_temp.said('webhook:crm', '{"url": "https://a.example/in", "source": "nexus:crm"}'), 'true whsec_', 'a URL is one, and its secret is told once');
select is(pg_temp.said('webhook:crm', '{"url": "https://a.example/in"}'), 'false', 'and not again');
select is(pg_temp.said('webhook:crm', o), 'NX212 p_options', o::text || ' is a conflict') from unnest(array['{"url": "https://b.example/in"}', '{"url": "https://a.example/in", "source": "other"}', '{"url": "https://a.example/in", "secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}']::jsonb[]) o;
select is(pg_temp.said('webhook:erp', '{"url": "http://a.example"}'), 'NX006 url', 'not one that anybody can read');
select is(pg_temp.said('webhook:erp', '{}'), 'NX006 url', 'one is needed');
select is(pg_temp.said('webhook:erp', '{"url": "https://a.example", "pause_after": "1 day"}'), 'NX004 pause_after', 'it is not paused, since others share its consumer');
select alike(core.rotate_webhook_secret('shop', 'webhook:crm'), 'whsec_%', 'its secret is rotated');
select throws_ok($$select core.rotate_webhook_secret('shop', 'webhook:none')$$, 'NX111', null, 'if it is there');
reset session authorization;
select is((select array_agg(details #>> '{options,secret}') from core.audit_log where target = 'webhook:crm'), '{NULL,NULL}', 'and in no record');
set session authorization t_reader;
select is((select array_agg(key::text order by key) from core.handlers), '{go:mail,sql:seen,webhook:crm,workflow:order}', 'readers see them');
set session authorization t_app;
select is((select count(*)::int from core_node.webhooks('shop')), 0, 'a handler is none where no consumer is routed');

-- consumers
select is(core_node.require_routed('shop', 'triggers'), 'core_events_shop__triggers', 'a node has its consumer made');
select is(core_node.require_routed('shop', 'triggers'), 'core_events_shop__triggers', 'which is there then');
select is(core_node.require_routed('shop', 'slow'), 'core_events_shop__slow', 'under any name');
select throws_ok($$select core_node.require_routed('shop', 'No')$$, 'NX008', null, 'that can be one');
select throws_ok($$select core_node.require_routed('shop', 'default')$$, 'NX212', null, 'and is not that of events');
select throws_ok($$select core.create_consumer('shop', 'requests', '{a}')$$, 'NX008', null, 'the reserved names are for these alone');
select is((select array_agg(name || ' ' || pattern || ' ' || consumer || ' ' || cardinality(secrets)) from core_node.webhooks('shop')), '{webhook:crm webhook:crm slow 2,webhook:crm webhook:crm triggers 2}', 'nodes POST what names the webhook, of each');
reset session authorization;
select is((select named_consumers from core.namespaces where namespace = 'shop'), false, 'emit need not look for them');
select throws_ok($$select core.alter_consumer('shop', 'triggers', '{a}')$$, 'NX006', null, 'they have no patterns');
select throws_ok($$select core.alter_consumer('shop', 'triggers', null, '{"drop_unmatched": true}')$$, 'NX006', null, 'nor what goes by these');
select throws_ok($$select core.alter_consumer('shop', 'triggers', null, '{"backfill": "beginning"}')$$, 'NX006', null, 'also not of the log');
select lives_ok($$select core.alter_consumer('shop', 'triggers', null, '{"retry": {"max_attempts": 1}}')$$, 'other options they have');
select is((select routed from core.consumer_status where consumer = 'triggers'), true, 'the status says so');

-- deliveries
create function pg_temp.deliver(p_target text, p_payload jsonb, p_due timestamptz = null) returns bigint language sql as $$
  select core_private.deliver_routed('core_events_shop__triggers', p_target, jsonb_build_object('namespace', 'shop', 'eventType', 'order.made', 'payload', p_payload, 'eventUid', '01900000-0000-7000-8000-000000000001'), null, p_due, core_private.now()) $$;
select isnt(pg_temp.deliver('go:mail', '1'), null, 'a delivery for a node');
select isnt(pg_temp.deliver('sql:seen', '2'), null, 'one for a function');
select isnt(pg_temp.deliver('sql:seen', '"bad"'), null, 'one that fails');
select is(pg_temp.deliver('sql:seen', '3', core_private.now() + interval '1 hour'), null, 'one that is due later');
select is((select queue_name || ' ' || event_type from core.delayed), 'core_events_shop__triggers sql:seen', 'which waits');
set session authorization t_app;
select is((select (handled, retried, buried)::text from core.work('shop')), '(1,0,1)', 'the owner of a function runs what names it');
reset session authorization;
select is((select event - 'messageId' - 'attempt' - 'headers' - 'redeliveryCount' - 'eventUid' from app.seen),
  '{"namespace": "shop", "eventType": "order.made", "sourceType": "order.made", "payload": 2, "target": "sql:seen", "consumer": "triggers"}', 'it is given the event under its own type, and what it is');
select is((select event_type || ' ' || consumer from core.dead_letters), 'order.made triggers', 'a dead letter has the type of the event');
select is((select event_type from core.delivery_errors), 'order.made', 'so has the history');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 1, 'what names another handler stays');
select isnt(core.replay_dead_letter((select dead_letter_id from core.dead_letters)), null, 'a dead letter is replayed');
select is((select message ->> 'eventType' from pgmq.q_core_events_shop__triggers order by msg_id desc limit 1), 'sql:seen', 'to the handler that it names');
select is(core_private.target_of(m) is null, true, m::text || ' names none') from unnest(array['{"eventType": "go:mail"}', '{"eventType": "go:mail", "sourceType": 7}', '{"eventType": "go:mail", "sourceType": "a b"}', '{"eventType": "mail", "sourceType": "a"}', '7', 'null']::jsonb[]) m;
select is(core_private.live_patterns('shop', 'triggers', core_private.now()), '{sql:seen}', 'what is in SQL is handled without a node');

-- what is for others, who are away, is in the way of nothing, however much it is
truncate pgmq.q_core_events_shop__triggers, app.seen;
select count(pg_temp.deliver('go:away', to_jsonb(g))) from generate_series(1, 40) g;
select isnt(pg_temp.deliver('sql:seen', '4'), null, 'one behind others');
select count(pg_temp.deliver('go:away', to_jsonb(g))) from generate_series(1, 40) g;
update pgmq.q_core_events_shop__triggers set vt = vt - interval '1 minute' where message ->> 'eventType' = 'go:away';
set session authorization t_app;
select is((select (handled, retried, buried)::text from core.work('shop', 5)), '(1,0,0)', 'is found behind the limit');
reset session authorization;

-- drops
set session authorization t_other;
select throws_ok($$select core.drop_handler('shop', 'sql:seen')$$, '42501', null, 'not everybody may drop a function''s');
select throws_ok($$select core.drop_handler('shop', 'webhook:crm')$$, '42501', null, 'nor a webhook''s');
select is(core.drop_handler('shop', 'go:mail'), true, 'one of a node who may consume drops');
select is(core.drop_handler('shop', 'go:mail'), false, 'once');
set session authorization t_app;
select is(core.drop_handler('shop', 'sql:seen'), true, 'the owner of the function drops it');
select is((select (handled, released)::text from core.work('shop')), '(0,0)', 'its deliveries wait then');
set session authorization t_operator;
select is(core.drop_handler('shop', 'webhook:crm'), true, 'an operator drops all');
reset session authorization;
select is((select count(*)::int from core_private.webhook_secrets), 0, 'a secret goes with it');
