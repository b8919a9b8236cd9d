-- R7: what triggers of kind http can be, who serves them, and what one of them does
-- holds: R7
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_operator login in role nexus_operator; create role t_app login in role nexus_producer, nexus_consumer; create role t_gone login in role nexus_operator;
select core.create_namespace('shop'), core.create_namespace('hidden', '{"restricted": true}');
create function pg_temp.t(p_name text, p_source jsonb, p_options jsonb = '{}', p_target text = 'go:order') returns uuid language sql as $$
  select core.create_trigger('shop', p_name, jsonb_build_object('http', p_source), p_target, p_options) $$;
create function pg_temp.get(p_path text) returns jsonb language sql as $$ select jsonb_build_object('method', 'GET', 'path', p_path, 'public', true) $$;
create function pg_temp.fire(p_name text, p_payload jsonb = '{"body": 1}', p_options jsonb = '{}', p_late bigint = 0) returns record language sql as $$
  select f from core.triggers t, core.namespaces n, core_node.fire_http(t.trigger_id, n.trigger_generation - p_late, p_payload, p_options) f where t.name = p_name and n.namespace = t.namespace $$;

set session authorization t_app;
set search_path = tap, pg_catalog;
select throws_ok($$select pg_temp.t('mine', pg_temp.get('/a'))$$, 'NX401', null, 'who may not operate opens no door');
set session authorization t_operator;
set search_path = tap, pg_catalog;
select isnt(pg_temp.t('order', '{"method": "POST", "path": "/orders/{id}", "token_hash": "00000000000000000000000000000000000000000000000000000000000000aa"}'), null, 'an operator does');
select isnt(pg_temp.t('order', '{"method": "POST", "path": "/orders/{id}", "token_hash": "00000000000000000000000000000000000000000000000000000000000000aa"}'), null, 'again nothing happens');
select isnt(pg_temp.t('price', pg_temp.get('/price') || '{"timeout": "2 s"}', '{"mode": "sync"}', 'go:price'), null, 'one that waits for a reply'), isnt(pg_temp.t('root', pg_temp.get('/')), null, 'one of the root');
select throws_ok(format('select pg_temp.t(''bad'', pg_temp.get(%L))', p), 'NX014', null, p || ' is no path')
  from unnest(array['', 'a', '/a/', '//a', '/a//b', '/a b', '/{', '/{}', '/{a', '/{a}b', '/a{b}', '/{1}', '/{a}/{a}', '/../a', '/./a', '/.git', '/a?b', '/%41', '/ä', repeat('/a', 33), '/' || repeat('a', 501)]) p;
select throws_ok(format('select pg_temp.t(''bad'', pg_temp.get(''/bad'') || %L)', s), e, null, s || ' is refused')
  from (values ('{"method": "TRACE"}', 'NX014'), ('{"method": null}', 'NX014'), ('{"method": "get"}', 'NX014'), ('{"public": false}', 'NX014'), ('{"public": "yes"}', 'NX014'), ('{"token_hash": "00000000000000000000000000000000000000000000000000000000000000aa"}', 'NX014'),
               ('{"public": false, "token_hash": "secret"}', 'NX014'), ('{"public": false, "token_hash": 7}', 'NX014'), ('{"token": "secret"}', 'NX004'), ('{"timeout": "6 min"}', 'NX005'), ('{"path": 7}', 'NX014')) v(s, e);
select throws_ok(format('select pg_temp.t(''bad'', pg_temp.get(''/bad''), %L)', o), e, null, o || ' is refused')
  from (values ('{"mode": "later"}', 'NX005'), ('{"mode": null}', 'NX005'), ('{"mode": "sync", "retry": {"max_attempts": 2}}', 'NX014'), ('{"mode": "sync", "consumer": "x"}', 'NX014'), ('{"match_back": "beginning"}', 'NX014'), ('{"resolve": true}', 'NX014')) v(o, e);

-- one method and path
select throws_ok($$select pg_temp.t('other', '{"method": "POST", "path": "/orders/{key}", "public": true}')$$, 'NX212', 'trigger ''order'' of namespace ''shop'' has POST /orders/{}', 'two of one method and path are refused, with the name of the other');
select isnt(pg_temp.t('closer', '{"method": "POST", "path": "/orders/new", "public": true}'), null, 'a closer one is another'), isnt(pg_temp.t('gets', pg_temp.get('/orders/{id}')), null, 'and another method');
select throws_ok($$select pg_temp.t('gets', '{"method": "POST", "path": "/orders/{key}", "public": true}', '{"replace": true}')$$, 'NX212', null, 'also by a replacement');

-- what is seen of it
reset session authorization;
select is((select source from core.trigger_status where name = 'order'), '{"method": "POST", "path": "/orders/{id}"}', 'the sum of the token is not shown');
select is((select count(*)::int from core.audit_log where details::text ~ '0aa'), 0, 'nor recorded'), is(has_table_privilege('nexus_reader', 'core.http_trigger_details', 'select'), false, 'nor read');
select is((select (mode, consumer, source)::text from core.trigger_status where name = 'price'), '(sync,requests,"{""path"": ""/price"", ""method"": ""GET"", ""public"": true, ""timeout"": ""00:00:02""}")', 'a sync one goes by requests');
select is((select why from core.test_triggers('shop', 'nexus.http') where name = 'order'), 'kind', 'no event is a call');

-- who serves
set session authorization t_app;
set search_path = tap, pg_catalog;
select is((select array_agg(concat_ws(' ', r ->> 'method', r ->> 'path', right(r ->> 'token_hash', 2)) order by r ->> 'path' collate "C", r ->> 'method') from core_node.http_routes('shop') h, jsonb_array_elements(h.routes) r),
  '{"GET / ","POST /orders/new ","GET /orders/{id} ","POST /orders/{id} aa","GET /price "}', 'who may produce reads the routes');
select throws_ok($$select core_node.http_routes('hidden')$$, 'NX402', null, 'not of a namespace in which it may not');
reset session authorization;
select is(core.disable_trigger('shop', 'gets'), true, 'one that is disabled');
select is((select count(*)::int from core_node.http_routes('shop') h, jsonb_array_elements(h.routes) r where r ->> 'path' = '/orders/{id}'), 1, 'is no route');

-- delivered
create temporary table fired as select r.* from pg_temp.fire('order', '{"params": {"id": "7"}}', '{"headers": {"traceparent": "00"}, "correlation_id": "c"}') as r(state text, event_uid uuid, accepted_at timestamptz, inbox_id uuid);
select is((select (state, accepted_at = core.now() or accepted_at is not null, inbox_id)::text from fired), '(accepted,t,)', 'one is accepted');
select is((select message - '{eventId,eventUid,emittedAt,triggerId}'::text[] || jsonb_build_object('policy', headers #> '{nexus-retry,max_attempts}', 'h', headers - 'nexus-retry') from pgmq.q_core_events_shop__triggers),
  '{"namespace": "shop", "eventType": "go:order", "sourceType": "nexus.http", "trigger": "order", "payload": {"params": {"id": "7"}}, "correlationId": "c", "producerNodeId": null, "policy": 3, "h": {"traceparent": "00"}}', 'and delivered to its handler');
select is((select (e.event_type, e.metadata ? 'toTriggers', e.event_uid = f.event_uid, e.principal = session_user)::text from core.event_log e, fired f), '(nexus.http,t,t,t)', 'logged under the id that was told'), is((select count(*)::int from pgmq.q_core_events_shop), 0, 'and goes to nobody else');
select core.alter_namespace('shop', '{"max_payload_bytes": 1024}');
select throws_ok(format('select pg_temp.fire(''order'', %L)', p), e, null, left(p, 20) || ' is refused') from (values (null, 'NX003'), (jsonb_build_object('a', repeat('x', 2000))::text, 'NX601')) v(p, e);
select throws_ok($$select pg_temp.fire('order', '{}', '{"delay": "1 h"}')$$, 'NX004', null, 'it has no options of emits');

-- routes of before
select is((pg_temp.fire('order', p_late => 1))::text, '(stale,,,)', 'by routes of before nothing is done'), is((pg_temp.fire('gets'))::text, '(stale,,,)', 'nor by one that is disabled');
select is((core_node.fire_http((select trigger_id from core.triggers where name = 'order'), null, '{}')).state, 'stale', 'nor by no routes'), is((core_node.fire_http(gen_random_uuid(), 7, '{}')).state, 'stale', 'nor by a trigger that is gone');
create temporary table before as select trigger_generation as g from core.namespaces where namespace = 'shop';
select pg_temp.t('order', '{"method": "POST", "path": "/orders/{id}", "public": true}', '{"replace": true}');
select is((core_node.fire_http(t.trigger_id, g, '{}')).state, 'stale', 'another token is another route') from core.triggers t, before where name = 'order';

-- asked
select is((pg_temp.fire('price'))::text ~ '^\(asked,,,.+\)$', true, 'a sync one asks');
select is((select concat_ws(' ', target, state, status, expires_at - requested_at) from core.inbox), 'go:price answered 503 00:00:02', 'as any request does, for as long as it says');
select is((select count(*)::int from core.event_log where event_type = 'nexus.http'), 1, 'and delivers nothing');
set session authorization t_gone; select core.create_trigger('shop', 'gone', '{"http": {"method": "GET", "path": "/gone", "public": true}}', 'go:price', '{"mode": "sync"}'); reset session authorization;
revoke nexus_operator from t_gone;
select is((pg_temp.fire('gone'))::text, '(revoked,,,)', 'one whose role lost its right asks nothing');
set session authorization t_operator;
set search_path = tap, pg_catalog;
select throws_ok($$select core_node.fire_http(null, 1, '{}')$$, '42501', null, 'who may not produce serves nothing');
reset session authorization;
select is(core.delete_trigger('shop', 'order'), 1::bigint, 'a deletion takes its deliveries along'), isnt(pg_temp.t('again', '{"method": "POST", "path": "/orders/{id}", "public": true}'), null, 'and frees its path');
