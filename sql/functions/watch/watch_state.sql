create or replace function core_private.watch_state(
    p_watch_id bigint, out principal_ok boolean, out missing name[], out switched_off name[], out altered name[])
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch core.watched_tables;
begin
    select * into v_watch from core.watched_tables w where w.watch_id = p_watch_id;
    principal_ok := exists (
        select from pg_roles r
          join core.namespaces n on n.namespace = v_watch.namespace
         where r.oid = v_watch.registered_by_principal
           and core_private.has_duty(n.namespace, 'produce', n.restricted, r.rolname));
    select coalesce(array_agg(t.name order by t.name) filter (where g.oid is null), '{}'),
           coalesce(array_agg(t.name order by t.name) filter (
               where g.tgenabled <> case when v_watch.replica then 'A' else 'O' end), '{}'),
           coalesce(array_agg(t.name order by t.name) filter (
               where g.tgfoid <> to_regproc('core_node.' || t.function)
                  or encode(g.tgargs, 'hex') <> encode(convert_to(p_watch_id::text, 'SQL_ASCII'), 'hex') || '00'
                  or g.tgqual is not null or g.tgattr <> ''), '{}')
      into missing, switched_off, altered
      from core_private.watch_triggers(v_watch) t
      left join pg_trigger g on g.tgrelid = v_watch.relation and g.tgname = t.name and not g.tgisinternal;
end $$;
comment on function core_private.watch_state(bigint) is 'Whether who watched the table may produce, and which of its triggers are missing, off, or not as they were made.';
