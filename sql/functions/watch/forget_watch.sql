create or replace function core_node.forget_watch(p_table regclass)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch core.watched_tables;
begin
    perform core_private.refuse_borrowed_session();
    if exists (select from pg_class c where c.oid = p_table)
       and not exists (select from pg_class c
                        where c.oid = p_table and pg_has_role(core_private.caller(), c.relowner, 'usage')) then
        raise exception using errcode = 'insufficient_privilege', column = 'p_table',
            message = format('table %s is not of %I', p_table, core_private.caller()),
            hint = 'End its watch as its owner; an operator can switch it off.';
    end if;
    delete from core.watched_tables w where w.relation = p_table returning * into v_watch;
    if not found then
        raise exception using errcode = 'NX112', column = 'p_table',
            message = format('table %s is not watched', coalesce(p_table::text, 'NULL')),
            hint = 'core.watch_status has those that are.';
    end if;
    perform core_private.audit('unwatch_table', v_watch.namespace, p_table::text, null,
        jsonb_build_object('collection', v_watch.collection, 'watch_id', v_watch.watch_id));
end $$;
comment on function core_node.forget_watch(regclass) is 'The part of core.unwatch_table that takes no owner of the table. Raises 42501, NX112.';
