-- A handler in SQL is given what comes first first; a claim without a memory leaves a lower level its share by lot.
-- holds: levels
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer;
create schema app authorization t_app;
select core.create_namespace('shop');
create table app.seen (n serial, priority text); alter table app.seen owner to t_app;
set session authorization t_app;
create function app.on_event(p_event jsonb) returns void language sql security definer set search_path = app, pg_temp as $$ insert into seen (priority) values (p_event ->> 'priority') $$;
grant usage on schema app to nexus_guard; grant execute on function app.on_event(jsonb) to nexus_guard;
select core.subscribe('shop', 'a.*', 'app.on_event(jsonb)', '{"consumer": "reports", "levels": 3}');
select core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', p)) from generate_series(1, 2), unnest('{3,2,1}'::int[]) p;
select is((select handled from core.work('shop')), 6, 'all are handled');
reset session authorization;
select is((select array_agg(coalesce(priority, '1') order by n) from app.seen), '{1,1,2,2,3,3}', 'in the order of levels');

select is((select array_agg(distinct f) from generate_series(1, 200), unnest(core_private.level_floors(4)) f), array[0, 1000000000000000, 2000000000000000, 3000000000000000], 'each level has a floor');
select cmp_ok((select count(*)::int from generate_series(1, 4000) where (core_private.level_floors(4))[1] > 0), '>', 250, 'one in ten begins with a lower level');
select cmp_ok((select count(*)::int from generate_series(1, 4000) where (core_private.level_floors(4))[1] > 0), '<', 600, 'and no more');
select is((select count(distinct (core_private.level_floors(4))[1])::int from generate_series(1, 2000)), 4, 'with each of them');
select is((select bool_and((f[1] = 0 and f = array[0, 1000000000000000]) or f = array[1000000000000000, 0]) from (select core_private.level_floors(2) as f from generate_series(1, 200)) x), true, 'the others follow in their order');
