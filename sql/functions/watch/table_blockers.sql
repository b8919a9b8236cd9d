create or replace function core_node.table_blockers(p_table regclass)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select string_agg(distinct format('process %s of %s%s', l.pid, coalesce(a.usename, '?'),
                                      coalesce(' (' || nullif(left(a.application_name, 60), '') || ')', '')), ', ')
      from pg_locks l
      left join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'relation' and l.relation = p_table and l.granted and l.pid <> pg_backend_pid()
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.mode not in ('AccessShareLock', 'RowShareLock')
       and exists (select from pg_class c where c.oid = p_table
                      and pg_has_role(core_private.caller(), c.relowner, 'usage'))
$$;
comment on function core_node.table_blockers(regclass) is 'Who keeps a table of the caller''s from being changed.';
