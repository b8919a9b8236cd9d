-- What is wrong is named as its caller knows it, and a name that is one slip away is asked for before a new namespace is made.
-- holds: others-names
create temporary table e (n int, field text, hint text);
create function pg_temp.fails(p_n int, p_sql text) returns void language plpgsql as $f$
declare v_field text; v_hint text;
begin
    execute p_sql;
exception when sqlstate 'NX101' or sqlstate 'NX003' or sqlstate 'NX005' or sqlstate 'NX006' then
    get stacked diagnostics v_field = column_name, v_hint = pg_exception_hint;
    insert into e values (p_n, v_field, v_hint);
end $f$;
select core.create_namespace('shop');
select core.create_namespace('vault', '{"restricted": true}');
select pg_temp.fails(1, $$select core.replay_dead_letters('{"namespace": "shp"}')$$);
select pg_temp.fails(2, $$insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('sohp', 't', '* * * * *', 'a')$$);
select pg_temp.fails(3, $$select core.emit('shop2', 'a')$$);
select pg_temp.fails(4, $$select core.emit('mall', 'a')$$);
select pg_temp.fails(5, $$select core.replay_dead_letters('{"namespace": "mall"}')$$);
select pg_temp.fails(6, $$select core.drop_namespace('vaul', 'vaul')$$);
select pg_temp.fails(7, $$select core.emit('shop', 'a', null)$$);
select pg_temp.fails(8, $$select core.schedule_task('shop', 't', '* * * * *', 'a', null)$$);
select pg_temp.fails(9, $$select core.emit('shop', 'a', '{}', null)$$);
select pg_temp.fails(10, $$select core.schedule_task('shop', 't', '* * * * *', 'a', '{}', null)$$);
select pg_temp.fails(11, $$select core.cancel_scheduled_event(null)$$);
select is((select array_agg(field order by n) from e), '{namespace,namespace,p_namespace,p_namespace,namespace,p_namespace,p_payload,p_payload,p_options,p_options,p_schedule_id}', 'each names what was given');
select is((select hint from e where n = 1), $$There is 'shop': is that meant?$$, 'a filter makes nothing, so none is made for it');
select is((select hint from e where n = 2), $$There is 'shop': is that meant?$$, 'two letters are swapped');
select is((select hint from e where n = 3), $$There is 'shop': is that meant? Else: select core.create_namespace('shop2');$$, 'one too many');
select is((select hint from e where n = 4), $$select core.create_namespace('mall');$$, 'nothing is like it');
select is((select hint from e where n = 5), 'Namespaces are listed in core.namespaces.', 'nor is that a filter');
select is((select hint from e where n = 6), 'Namespaces are listed in core.namespaces.', 'a restricted one is not named');
select is((select count(*)::int from core.emit_batch('shop', '{a,b}', '{"{}","{}"}', array[null, '{}']::jsonb[])), 2, 'an element of a batch may be NULL: an array leaves none out');
