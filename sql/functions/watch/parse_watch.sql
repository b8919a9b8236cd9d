create or replace function core_private.parse_watch(p_table regclass, p_options jsonb)
returns core.watched_tables
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch core.watched_tables;
    v_name  text;
begin
    perform core_private.check_option_keys(
        p_options, '{ops,columns,key,unchanged,emit,replica,lock_timeout}');
    foreach v_name in array '{unchanged,emit,replica}'::text[] loop
        if jsonb_typeof(p_options -> v_name) <> 'boolean' then
            perform core_private.fail_option(v_name, p_options -> v_name, 'Give true or false.');
        end if;
    end loop;
    v_watch.ops := core_private.option_names(p_options, 'ops');
    if not v_watch.ops <@ '{insert,update,delete}'::text[] then
        perform core_private.fail_option('ops', p_options -> 'ops', 'Give some of insert, update, delete.');
    end if;
    v_watch.columns := core_private.columns_named(p_table, core_private.option_names(p_options, 'columns'));
    v_watch.key := core_private.columns_named(p_table, core_private.option_names(p_options, 'key'));
    v_watch.unchanged := coalesce((p_options ->> 'unchanged')::boolean, false);
    v_watch.emit := coalesce((p_options ->> 'emit')::boolean, false);
    v_watch.replica := coalesce((p_options ->> 'replica')::boolean, false);
    v_watch.by_row := v_watch.replica or (select c.relkind = 'p' from pg_class c where c.oid = p_table);
    return v_watch;
end $$;
comment on function core_private.parse_watch(regclass, jsonb) is 'What the options of core.watch_table ask for. Raises NX004, NX005, NX017.';
