-- T9: functions that run in the transaction that emits
-- holds: T9, T5 (sync)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_admin login in role nexus_admin; create role t_other login in role nexus_admin;
select core.create_namespace('shop'), core.create_namespace('quiet');
create schema app authorization t_admin; grant usage on schema app to public; create schema low authorization t_app; grant usage on schema low to nexus_guard;
create table app.ran (n serial, said text, who text, logged boolean, event jsonb, path text); alter table app.ran owner to t_admin;
grant select on core.event_log to t_admin; grant select on app.ran to t_app;
create function pg_temp.ran() returns text[] language plpgsql as $$ declare v text[]; begin
  with g as (delete from app.ran returning *) select coalesce(array_agg(said order by n), '{}') into v from g; return v; end $$;
create function pg_temp.said(p_do text) returns text language plpgsql as $$ declare v_said text; begin
  execute p_do; return 'done'; exception when others then get stacked diagnostics v_said = message_text; return sqlstate || ' ' || v_said; end $$;
grant execute on function pg_temp.said(text) to public;
set session authorization t_admin; set search_path = tap, pg_catalog;
create function app.note(p jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$
begin
  insert into ran (said, who, logged, event, path) values (concat_ws(' ', p ->> 'trigger', p ->> 'eventType', p -> 'payload', p -> 'depth'), current_user || ' ' || session_user,
    exists (select from core.event_log e where e.event_uid = (p ->> 'eventUid')::uuid), p, current_setting('search_path'));
  case p ->> 'payload' when 'fail' then raise 'no %', p ->> 'eventType' using errcode = 'UX001';
    when 'loop' then perform core.emit('shop', p ->> 'eventType', '"loop"');
    when 'path' then set search_path = evil;
    when 'role' then set role t_other;
    when 'alter' then execute 'alter function app.note(jsonb) cost 7';
    when 'local' then set local search_path = evil;
    else null; end case;
end $$;
create function app.second(p jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$ begin insert into ran (said) values ('second ' || (p -> 'payload')::text); end $$;
grant usage on schema app to nexus_guard; grant execute on function app.note(jsonb), app.second(jsonb) to nexus_guard;
select core.create_handler('shop', 'sql:note', '{"function": "app.note(jsonb)"}'), core.create_handler('shop', 'sql:second', '{"function": "app.second(jsonb)"}');
reset session authorization;
set session authorization t_app; set search_path = tap, pg_catalog;
create function low.note(p jsonb) returns void language plpgsql security definer set search_path = low, pg_temp as $$ begin end $$;
grant execute on function low.note(jsonb) to nexus_guard;
select core.create_handler('shop', 'sql:low', '{"function": "low.note(jsonb)"}');
-- who may
select is(pg_temp.said($$select core.create_trigger('shop', 'a', '{"event": {"pattern": "a"}}', 'sql:note', '{"mode": "sync"}')$$), '42501 trigger ''a'' of namespace ''shop'' cannot be sync: t_app, which created the trigger, is no member of nexus_admin', 'an administrator creates it');
reset session authorization; set session authorization t_admin; set search_path = tap, pg_catalog;
select is(pg_temp.said($$select core.create_trigger('shop', 'a', '{"event": {"pattern": "a"}}', 'sql:low', '{"mode": "sync"}')$$), '42501 trigger ''a'' of namespace ''shop'' cannot be sync: t_app, which owns the function, is no member of nexus_admin', 'with a function of one');
select is(left(pg_temp.said(format('select core.create_trigger(''shop'', ''a'', %L, %L, %L)', s, t, o)), 5), 'NX014', s || t || o) from (values
  ('{"event": {"pattern": "a"}}', 'go:a', '{"mode": "sync"}'), ('{"dead_letter": {}}', 'sql:note', '{"mode": "sync"}'), ('{"cron": {"cron_expression": "0 8 * * *"}}', 'sql:note', '{"mode": "sync"}'),
  ('{"event": {"pattern": "a"}}', 'sql:note', '{"mode": "sync", "retry": {}}'), ('{"event": {"pattern": "a"}}', 'sql:note', '{"mode": "sync", "match_back": "beginning"}')) v(s, t, o);
select core.create_trigger('shop', 'b', '{"event": {"pattern": "order.*"}}', 'sql:note', '{"mode": "sync"}');
select core.create_trigger('shop', 'c', '{"event": {"pattern": "order.made", "contains": {"all": true}}}', 'sql:second', '{"mode": "sync"}');
select is(pg_temp.said($$select core.match_back('shop', 'b', 'beginning')$$), 'NX014 trigger ''b'' is sync, so it cannot look back', 'it looks at nothing that was');
select is(pg_temp.said($$select core.create_trigger('shop', 'b', '{"event": {"pattern": "order.*"}}', 'sql:note')$$), 'NX212 trigger ''b'' of namespace ''shop'' exists with another source, target, mode or policy', 'the mode is a setting');
reset session authorization;
select is((select mode || principal_ok from core.trigger_status where name = 'b'), 'synctrue', 'which the status has');
select is((select trigger_patterns from core.namespaces where namespace = 'shop'), '{>order,order.*,order.made,!}', 'and the namespace');
-- it runs, in order, after the row of the log, as its owner, in the session of who emits
set session authorization t_app; set search_path = low, tap, pg_catalog;
select core.emit('shop', 'order.made', '{"all": true}'), core.emit('shop', 'order.paid', '1', '{"headers": {"a": "b"}, "delay": "1 h"}'), core.emit('shop', 'other', '1'), core.emit('quiet', 'order.made');
select is(current_setting('search_path'), 'low, tap, pg_catalog', 'the path of who emits stays');
reset session authorization;
select is((select (who, logged, path)::text from app.ran where n = 1), '("t_admin t_app",t,"app, pg_temp")', 'as whom, where and when');
select is((select event - '{eventId,eventUid,emittedAt,triggerId}'::text[] from app.ran where said ~ 'paid'), '{"namespace": "shop", "eventType": "order.paid", "payload": 1, "producerNodeId": null, "trigger": "b", "target": "sql:note", "sourceType": "order.paid", "attempt": 1, "headers": {"a": "b"}}', 'what it is given');
select is(pg_temp.ran(), array['b order.made {"all": true}', 'second {"all": true}', 'b order.paid 1'], 'by the names of the triggers');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 0, 'no delivery');
update nexus_test.clock set frozen = clock_timestamp();
select core.emit('shop', 'order.made', '2', '{"dedupe_key": "k"}') from generate_series(1, 2);
update nexus_test.clock set frozen = null;
select is(pg_temp.ran(), '{"b order.made 2"}', 'a duplicate runs nothing');
-- its error is that of the emit
set session authorization t_app; set search_path = tap, pg_catalog;
select is(pg_temp.said(s), 'UX001 no order.bad', s) from (values ($$select core.emit('shop', 'order.bad', '"fail"')$$), ($$select core.emit('shop', 'order.bad', '"fail"', '{"tags": ["x"]}')$$), ($$select core.emit_batch('shop', '{order.good,order.bad}', array['1', '"fail"']::jsonb[])$$)) v(s);
reset session authorization;
select is((select count(*)::int from core.event_log where event_type ~ 'bad|good') + (select count(*) from pgmq.q_core_events_shop where message ->> 'eventType' ~ 'bad|good')::int, 0, 'and nothing is written'), is(pg_temp.ran(), '{}', 'nor by it');
-- batches, one-shots, tasks
select is(array_agg(event_id), array_agg(event_id order by event_id), 'rows of a batch in order'), is(count(*)::int, 3, 'all of it') from core.emit_batch('shop', '{order.a,other,order.b}', array['1', '2', '3']::jsonb[]);
select is(pg_temp.ran(), '{"b order.a 1","b order.b 3"}', 'a batch in its order');
select core.emit_batch('shop', '{order.a,order.a,order.b}', array['1', '2', '3']::jsonb[], array['{"dedupe_key": "x"}', '{"dedupe_key": "x"}', '{"depth": 9}']::jsonb[]);
select is(pg_temp.ran(), '{"b order.a 1"}', 'without duplicates, nor what lies too deep'), is((select array_agg((why, deliveries, event_type)::text) from core.trigger_drops), '{"(depth,1,order.b)"}', 'which is noted');
select core.schedule_event('shop', 'order.late', t, core_private.now()) from unnest('{"\"fail\"",7}'::jsonb[]) t;
select core.fire_due_events();
select is(pg_temp.ran(), '{"b order.late 7"}', 'one-shots'), is((select array_agg(last_error ~ 'no order.late') from core.scheduled_events where status = 'pending'), '{t}', 'whose error is theirs');
select core.run_task_now(core.schedule_task('shop', 'nightly', '0 4 * * *', 'order.task', '8'));
select is(pg_temp.ran(), '{"b order.task 8"}', 'a task');
-- depth
set session authorization t_app; set search_path = tap, pg_catalog;
select core.emit('shop', 'order.x', '"loop"');
select is(current_setting('nexus.cause', true), '', 'what comes after is not caused by it');
reset session authorization;
select is(pg_temp.ran(), array['b order.x "loop"'] || array(select 'b order.x "loop" ' || n from generate_series(1, 8) n), 'each is one deeper'), is((select count(*)::int from core.trigger_drops where event_type = 'order.x'), 1, 'till one is too deep');
-- attacks
set session authorization t_app; set search_path = tap, pg_catalog;
select is(pg_temp.said(format('select core.emit(''shop'', ''order.x'', to_jsonb(%L::text))', d)), s, d) from (values ('path', 'NX015 the function app.note(jsonb) set search_path in a session that is not its own'), ('role', '42501 cannot set parameter "role" within security-definer function'), ('alter', 'NX215 the function app.note(jsonb) was altered while it ran'), ('local', 'done')) v(d, s);
select is(current_setting('search_path'), 'tap, pg_catalog', 'nothing stays');
reset session authorization;
select pg_temp.ran();
alter role t_admin rename to t_boss; revoke nexus_admin from t_boss;
select is(pg_temp.said($$select core.emit('shop', 'order.x')$$), '42501 trigger ''b'' of namespace ''shop'' cannot be sync: t_boss, which created the trigger, is no member of nexus_admin', 'who is no administrator any more');
select is((select principal_ok from core.trigger_status where name = 'b'), false, 'is shown'), is((select why from core.test_triggers('shop', 'order.x') where name = 'b'), 'principal_revoked', 'and told');
select is(pg_temp.said($$select core.hand_over_triggers('t_boss', 't_app')$$) ~ '^NX006', true, 'it goes to no other than an administrator'), is(pg_temp.said($$select core.hand_over_triggers('t_boss', 't_other', 'shop')$$), 'done', 'to one it does');
select is(pg_temp.said($$select core.emit('shop', 'order.x')$$) ~ '^42501 .*t_boss, which owns the function', true, 'the owner is asked as well');
grant nexus_admin to t_boss; alter function app.note(jsonb) owner to t_app;
select is(pg_temp.said($$select core.emit('shop', 'order.x')$$) ~ '^NX015 trigger ''b'' .* belongs to t_app', true, 'a function that was given away does not run');
alter function app.note(jsonb) owner to t_boss;
create or replace function app.note(p jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$ begin insert into ran (said) values ('new ' || (p ->> 'eventType')); end $$;
select is(pg_temp.said($$select core.emit('shop', 'order.x')$$), 'done', 'a function that was replaced'), is(pg_temp.ran(), '{"new order.x"}', 'is the new one');
drop function app.second(jsonb);
select is(pg_temp.said($$select core.emit('shop', 'order.made', '{"all": true}')$$), 'NX015 trigger ''c'' of namespace ''shop'', which is sync, cannot run: the function app.second(jsonb) is gone', 'one that is gone is named');
select core.disable_trigger('shop', 'c'), core.emit('shop', 'order.made', '{"all": true}');
select is(pg_temp.ran(), '{"new order.made"}', 'what is disabled runs nothing');
select core.create_trigger('shop', 'b', '{"event": {"pattern": "order.*"}}', 'sql:note', '{"replace": true}'), core.emit('shop', 'order.made');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 1, 'it can be async again'), is(pg_temp.ran(), '{}', 'and runs no more'), is((select trigger_patterns from core.namespaces where namespace = 'shop'), '{>order,order.*}', 'as the namespace has it');
-- keys and watched tables
create or replace function app.note(p jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $$ begin
  insert into ran (said) values (concat_ws(' ', p ->> 'trigger', p ->> 'eventType', p #> '{payload,key}', p #> '{payload,new}', p #> '{payload,expired}')); if p #>> '{payload,new,state}' = 'bad' or p #>> '{payload,old,bad}' is not null then raise 'no'; end if; end $$;
create function pg_temp.t(p_name text, p_source jsonb) returns uuid language sql as $$ select core.create_trigger('shop', p_name, p_source, 'sql:note', '{"mode": "sync"}') $$;
select pg_temp.t('kv', '{"kv": {"collection": "settings", "ops": ["insert", "delete"], "contains": {"key": "a"}}}'), pg_temp.t('rows', '{"kv": {"collection": "rows", "columns": ["state"]}}');
set session authorization t_app; set search_path = tap, pg_catalog;
select core.kv_set('shop', 'settings', k, v) from (values ('a', '1'::jsonb), ('a', '2'), ('b', '1')) x(k, v);
select core.kv_delete('shop', 'settings', 'a');
reset session authorization;
select is(pg_temp.ran(), '{"kv kv.settings.insert \"a\" 1","kv kv.settings.delete \"a\" null"}', 'keys');
select is(pg_temp.said($$select core.kv_set('shop', 'settings', 'a', '{"state": "bad"}')$$), 'P0001 no', 'the error is that of who sets it'), is((select count(*)::int from core.kv where key = 'a'), 0, 'and it is not set');
select core.kv_set('shop', 'settings', 'a', '1', '{"ttl": "1 m"}'), core.kv_set('shop', 'other', 'a', '1', '{"ttl": "1 m"}');
update core.kv_entries set expires_at = core.now() - interval '1 s';
select pg_temp.ran();
select is(core_private.expire_kv(), 3, 'what expires'), is(pg_temp.ran(), '{"kv kv.settings.delete \"a\" null true"}', 'too');
select core.kv_set('shop', 'settings', 'a', '{"bad": 1}', '{"ttl": "1 m"}'), core.kv_set('shop', 'settings', 'c', '1', '{"ttl": "1 m"}');
update core.kv_entries set expires_at = core.now() - interval '1 s';
select pg_temp.ran();
set client_min_messages = error;
select is(core_private.expire_kv(), 1, 'a function that fails holds up nobody else');
select is((select array_agg(key) from core.kv_entries), '{a}', 'its key stays');
reset client_min_messages;
create table low.orders (id int primary key, state text); alter table low.orders owner to t_app;
set session authorization t_app; set search_path = tap, pg_catalog;
select core.watch_table('shop', 'low.orders', 'rows');
insert into low.orders values (1, 'new'), (2, 'new');
update low.orders set state = 'old' where id = 1;
update low.orders set id = 3 where id = 2;
select is(pg_temp.said('update low.orders set state = ''bad'''), 'P0001 no', 'the error is that of the statement');
reset session authorization;
select is(pg_temp.ran(), array['rows kv.rows.insert {"id": 1} {"id": 1, "state": "new"}', 'rows kv.rows.insert {"id": 2} {"id": 2, "state": "new"}', 'rows kv.rows.update {"id": 1} {"id": 1, "state": "old"}'], 'rows of a watched table');
select is((select array_agg(state order by id) from low.orders), '{old,new}', 'undoes it');
insert into low.orders select g, 'many' from generate_series(11, 30) g;
select is(pg_temp.ran(), array(select format('rows kv.rows.insert {"id": %s} {"id": %1$s, "state": "many"}', g) from generate_series(11, 30) g), 'of many');
select core.unwatch_table('low.orders'), core.watch_table('shop', 'low.orders', 'rows', '{"emit": true}'), pg_temp.t('event', '{"event": {"pattern": "kv.*"}}');
update low.orders set state = 'x' where id < 13;
select is(pg_temp.ran(), array(select format('%s kv.rows.update {"id": %s} {"id": %2$s, "state": "x"}', t, i) from unnest('{1,3,11,12}'::int[]) i cross join unnest('{event,rows}'::text[]) t order by i, t), 'those that are emitted are events, too');
set local nexus.cause = '8 019a2b4c-0000-7000-8000-000000000001 corr';
update low.orders set state = 'y' where id < 13;
select is(pg_temp.ran(), '{}', 'too deep'), is((select sum(deliveries)::int from core.trigger_drops where event_type ~ 'rows'), 8, 'each is noted');
set local nexus.cause = '';
