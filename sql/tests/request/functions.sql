-- R6: a function in SQL replies what it returns, and how it fails is told
-- holds: R6 (SQL)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer;
create schema app authorization t_app; grant usage on schema app to public;
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
create table app.done (n text); alter table app.done owner to t_app;
set session authorization t_app;
set search_path = tap, pg_catalog;
create function app.price(p jsonb) returns jsonb language plpgsql security definer set search_path = app, pg_temp as $$
begin
  insert into done values (p ->> 'payload');
  case p ->> 'payload'
  when 'reject' then perform core.reject_event('out of stock');
  when 'release' then perform core.release_event('1 s', 'busy');
  when 'retry' then perform core.retry_event('1 s');
  when 'error' then raise 'boom';
  when 'beyond' then return '1e400';
  when 'large' then return to_jsonb(repeat('x', 1999));
  when 'null' then return null;
  else null;
  end case;
  return jsonb_build_object('type', p ->> 'eventType', 'target', p ->> 'target', 'got', p -> 'payload');
end $$;
create function app.count(p jsonb) returns integer language sql security definer set search_path = app, pg_temp as 'select 7';
create function app.nothing(p jsonb) returns void language sql security definer set search_path = app, pg_temp as 'select';
create type app.mood as enum ('sad');
create function app.evil(app.mood) returns json language plpgsql as $$ begin insert into app.done values (current_user); return '1'; end $$;
create cast (app.mood as json) with function app.evil(app.mood); grant insert on app.done to public;
create function app.mood(p jsonb) returns app.mood language sql security definer set search_path = app, pg_temp as $$ select 'sad'::app.mood $$;
create function app.duo(p jsonb, out a integer, out b app.mood) language sql security definer set search_path = app, pg_temp as $$ select 1, 'sad'::app.mood $$;
grant execute on function app.mood(jsonb), app.duo(jsonb) to nexus_guard;
grant usage on schema app to nexus_guard; grant execute on function app.price(jsonb), app.count(jsonb), app.nothing(jsonb) to nexus_guard;
select core.create_handler('shop', 'sql:' || f, jsonb_build_object('function', format('app.%s(jsonb)', f))) from unnest('{price,count,nothing,mood,duo}'::text[]) f;
select throws_ok($$select core.request('shop', 'sql:none')$$, 'NX111', null, 'a function has to be known');
select throws_ok($$select core.request('shop', 'webhook:none')$$, 'NX111', null, 'so has a webhook');
reset session authorization;
select is((select count(*)::int from core.consumers where name = 'requests'), 0, 'what is refused makes no consumer');
create temp table asked as select a.n, core.request('shop', 'sql:' || a.f, to_jsonb(a.n)) as id from (values
  ('ok', 'price'), ('reject', 'price'), ('release', 'price'), ('retry', 'price'), ('error', 'price'), ('beyond', 'price'), ('large', 'price'), ('null', 'price'), ('count', 'count'), ('nothing', 'nothing'), ('mood', 'mood'), ('duo', 'duo'), ('late', 'price'), ('twice', 'price')) a(n, f);
update core.inbox set xact_id = '3';
update core.inbox set requested_at = core.now() - interval '30 s', expires_at = core.now() where inbox_id = (select id from asked where n = 'late');
update core.inbox set state = 'running' where inbox_id = (select id from asked where n = 'twice');
set session authorization t_app;
select is((select (handled, retried, buried, released)::text from core.work('shop')), '(14,0,0,0)', 'each runs, or is passed over');
reset session authorization;
select is((select count(*)::int from pgmq.q_core_events_shop__requests), 0, 'all are acked');
create function pg_temp.taken(p_n text) returns text language plpgsql as $$
declare r record;
begin
  select t.* into r from asked a, core.take_reply(a.id) t where a.n = p_n;
  return concat_ws(' ', r.state, r.status, r.reply, split_part(r.error, E'\n', 1));
end $$;
select is(pg_temp.taken(n), said, n) from (values
  ('ok', 'answered 200 {"got": "ok", "type": "price", "target": "sql:price"}'), ('reject', 'answered 422 out of stock'), ('release', 'answered 503 busy'), ('retry', 'answered 503 NX701: retry'),
  ('error', 'answered 500 P0001: boom'), ('beyond', 'answered 500 the reply holds a number beyond 1e308'), ('large', 'answered 507 the reply has 2001 bytes, at most 2000 are allowed'), ('null', 'answered 200 null'),
  ('count', 'answered 200 7'), ('nothing', 'answered 200 null'),
  ('mood', 'answered 500 NX015: function app.mood(jsonb) returns app.mood, which is no reply'), ('duo', 'answered 500 NX015: function app.duo(jsonb) returns record, which is no reply'), ('late', 'expired 504 no reply from sql:price within 30.000 seconds'), ('twice', 'answered 502 the process that ran the handler was lost')) x(n, said);
select is((select string_agg(n, ' ' order by n) from app.done), 'beyond large null ok', 'what failed is undone, what is late or lost does not run');
select is((select count(*)::int from core.dead_letters), 0, 'and there are no dead letters');
