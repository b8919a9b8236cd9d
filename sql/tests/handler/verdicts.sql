-- H4: what an SQL handler does and says, and what becomes of the event
-- holds: H4
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer;
create schema app authorization t_app;
select core.create_namespace('shop', '{"retry": {"max_attempts": 3, "shape": "constant", "base": "10 s", "jitter": 0}}');
create table app.seen (event jsonb); alter table app.seen owner to t_app;
set session authorization t_app;
create function app.on_event(p_event jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$
begin
  insert into seen values (p_event);
  case p_event ->> 'eventType'
    when 'retry' then perform core.retry_event(interval '7 minutes', 'not yet');
    when 'again' then perform core.retry_event();
    when 'reject' then perform core.reject_event('no such customer');
    when 'release' then perform core.release_event('5 minutes', 'busy');
    when 'error' then raise exception using errcode = '22000', message = 'boom', detail = 'a detail', hint = 'a hint';
    when 'assert' then assert false, 'asserted';
    when 'hand' then raise exception using errcode = 'NX701', message = 'by hand', detail = '3 minutes';
    else null;
  end case;
end $$;
grant usage on schema app to nexus_guard; grant execute on function app.on_event(jsonb) to nexus_guard;
reset session authorization;
insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at)
  select consumer_id, 'app.on_event(jsonb)', 't_app'::regrole, 'test', now() from core.consumers;
select core.emit('shop', t, '{"n": 1}', '{"headers": {"k": "v"}}') from unnest('{ok,retry,again,reject,release,error,assert,hand}'::text[]) t;
set session authorization t_app;
set search_path = tap, app, pg_catalog;
select is((select (w.handled, w.retried, w.buried, w.released)::text from core.work('shop') w), '(1,5,1,1)', 'one call says what became of all');
select is(current_setting('search_path'), 'tap, app, pg_catalog', 'and leaves the path as it was');
select is((select array_agg(event ->> 'eventType') from app.seen), '{ok}', 'only what went well is kept');
select is((select event - '{emittedAt,eventId,eventUid}'::text[] from app.seen),
  '{"namespace": "shop", "eventType": "ok", "payload": {"n": 1}, "consumer": "default", "messageId": 1, "attempt": 1, "producerNodeId": null, "redeliveryCount": 0, "headers": {"k": "v"}}'::jsonb, 'the handler is given the event');
select ok((select event ?& '{emittedAt,eventId,eventUid}' from app.seen), 'with its ids');
select is((select handled + retried + buried + released from core.work('shop')), 0, 'nothing else is due');
reset session authorization;
create function pg_temp.queued(p_type text) returns text language sql as $$
  select concat_ws(' ', round(extract(epoch from q.vt - core.now())), q.headers ->> 'nexus-failures', q.headers ->> 'nexus-deferrals') from pgmq.q_core_events_shop q where q.message ->> 'eventType' = p_type $$;
select is(pg_temp.queued('retry'), '420 1', 'a retry waits as long as it says');
select is(pg_temp.queued('again'), '10 1', 'or by the policy');
select is(pg_temp.queued('hand'), '180 1', 'a SQLSTATE says the same');
select is(pg_temp.queued('release'), '300 1', 'a release uses no attempt');
select is((select (reason, last_error, attempts, consumer)::text from core.dead_letters), '("no such customer","no such customer",1,default)', 'what is rejected is a dead letter with its reason');
create function pg_temp.error_of(p_type text) returns text language sql as $$ select reason || '|' || error from core.delivery_errors where event_type = p_type order by error_id desc limit 1 $$;
select is(pg_temp.error_of('retry'), 'error|NX701: not yet', 'a retry is recorded with its reason');
select is(pg_temp.error_of('error'), E'error|22000: boom\nDETAIL: a detail\nHINT: a hint\nCONTEXT: PL/pgSQL function on_event(jsonb) line 9 at RAISE', 'an error with its SQLSTATE, text and context, of which Nexus shows nothing of its own');
select is(pg_temp.error_of('assert'), E'error|P0004: asserted\nCONTEXT: PL/pgSQL function on_event(jsonb) line 10 at ASSERT', 'an assertion is an error');
update nexus_test.clock set frozen = clock_timestamp() + interval '1 hour';
set session authorization t_app;
select is((select (w.handled, w.retried, w.buried, w.released)::text from core.work('shop', 2) w), '(0,2,0,0)', 'a limit is kept');
select is((select (w.handled, w.retried, w.buried, w.released)::text from core.work('shop') w), '(0,3,0,1)', 'the others come after');
reset session authorization;
update nexus_test.clock set frozen = clock_timestamp() + interval '2 hours';
set session authorization t_app;
select is((select (w.handled, w.retried, w.buried, w.released)::text from core.work('shop') w), '(0,0,5,1)', 'the last attempt makes dead letters');
reset session authorization;
select is((select array_agg(attempts || ' ' || reason order by attempts, reason) from core.dead_letters), '{1 no such customer,3 error,3 error,3 error,3 error,3 error}', 'with the reason and the attempts');
insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at)
  select consumer_id, 'app.on_event(jsonb)', 't_app'::regrole, 'test', now() from core.consumers on conflict do nothing;
select pgmq.send('core_events_shop', '[1]');
set session authorization t_app;
select is((select handled from core.work('shop')), 1, 'what is no envelope is handled');
select is((select event #>> '{payload}' || (event ->> 'eventType') from app.seen order by (event ->> 'messageId')::bigint desc limit 1), '[1]unknown.raw', 'as unknown.raw');
select throws_ok($$select core.work('shop', 0)$$, 'NX006', null, 'a limit is a number of events');
select throws_ok($$select core.work('nope')$$, 'NX101', null, 'a namespace has to be there');
select throws_ok($$select core.retry_event('31 days')$$, 'NX006', null, 'a retry lies within 30 days');
select throws_ok($$select core.release_event('-1 s')$$, 'NX006', null, 'a release does not lie in the past');
select throws_ok($$select core_node.run_sql(1, 'x', '{}', '{}', '{}')$$, '42501', null, 'what nexus_sql may call nobody else may');
reset session authorization;
select throws_ok($$select core_node.run_sql(1, 'x', '{}', '{}', '{}')$$, 'NX401', null, 'not even a superuser');
