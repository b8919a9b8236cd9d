-- As its caller, since only a table's owner can drop its triggers.
create or replace function core.unwatch_table(p_table regclass)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name name;
begin
    perform core_node.forget_watch(p_table);
    perform core_node.lock_watched(p_table, '5 s', 'access exclusive');
    for v_name in
        select t.tgname
          from pg_trigger t
          join pg_proc p on p.oid = t.tgfoid
          join pg_namespace n on n.oid = p.pronamespace
         where t.tgrelid = p_table and not t.tgisinternal and t.tgname ^@ 'nexus_watch_' and n.nspname = 'core_node'
    loop
        execute format('drop trigger %I on %s', v_name, p_table);
    end loop;
end $$;
comment on function core.unwatch_table(regclass) is 'Ends the watch of a table, and drops its triggers. Who owns the table. Raises 42501, 55P03, NX112.';
