create or replace function core_private.check_watchable(p_table regclass)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table record;
    v_why   text;
begin
    select c.*, n.nspname, pg_partition_root(c.oid) as root
      into v_table
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.oid = p_table;
    v_why := case
        when v_table.oid is null then 'it does not exist'
        when v_table.relkind = 'v' or v_table.relkind = 'm' then 'it is a view'
        when v_table.relkind = 'f' then 'it is a foreign table'
        when v_table.relkind not in ('r', 'p') then 'it is no table'
        when v_table.relpersistence = 't' then 'it is temporary'
        when v_table.relispartition then format('it is a partition: watch %s', v_table.root)
        when v_table.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'pg_catalog', 'information_schema')
        then 'it is one of Nexus or of Postgres'
        when exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = p_table and d.deptype = 'e')
        then 'it belongs to an extension'
        when v_table.relkind = 'r'
             and exists (select from pg_inherits i where p_table in (i.inhrelid, i.inhparent))
        then 'it inherits, or others inherit from it' end;
    if v_why is not null then
        raise exception using errcode = 'NX017', column = 'p_table',
            message = format('table %s cannot be watched: %s', coalesce(p_table::text, 'NULL'), v_why),
            hint = 'Tables and partitioned ones can be, which are your own.';
    elsif not pg_has_role(core_private.caller(), v_table.relowner, 'usage') then
        raise exception using errcode = 'insufficient_privilege', column = 'p_table',
            message = format('table %s is not of %I', p_table, core_private.caller()),
            hint = 'Watch it as its owner.';
    end if;
end $$;
comment on function core_private.check_watchable(regclass) is 'Raises 42501 or NX017 unless the caller may have that table watched.';
