-- N6: whoever runs the SQL handlers of a namespace is called by those who emit for them, and by nobody else
-- holds: N6, I3
select core.create_namespace('shop'), core.create_namespace('hush', '{"restricted": true}');
create role t_app login in role nexus_consumer;
create schema app authorization t_app;
set session authorization t_app;
create function app.handle(jsonb) returns void language sql security definer set search_path = app, pg_temp as 'select';
grant usage on schema app to nexus_guard; grant execute on function app.handle(jsonb) to nexus_guard;
select core.subscribe('shop', 'a', 'app.handle(jsonb)', '{"consumer": "one"}'), core.subscribe('shop', 'b', 'app.handle(jsonb)', '{"consumer": "two"}');
reset session authorization;
select core.create_consumer('shop', 'go', '{a}');
create role t_node in role nexus_consumer;
grant usage on schema tap to t_node; grant execute on all functions in schema tap to t_node;
set local role t_node;
select is(core_node.wait_for_sql('shop', '10 s'), '{core_events_shop__one,core_events_shop__two}', 'the queues of SQL handlers are the keys');
select throws_ok($$select core_node.wait_for_sql('hush', '10 s')$$, 'NX402', null, 'of a namespace that is open to the caller');
select throws_ok($$select core_node.wait_for_sql('nowhere', '10 s')$$, 'NX101', null, 'and is there');
reset role;
select is((select string_agg(key, ' ' order by key collate "C") from core_private.wake_flags where waiting_until > core.now()),
  'core_events_shop__one core_events_shop__two', 'and whoever emits calls');
