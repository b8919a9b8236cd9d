create or replace function core_private.sweep_watches()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_total integer := 0;
    r       record;
begin
    for r in
        delete from core.watched_tables w
         where not exists (select from pg_class c where c.oid = w.relation)
           and w.namespace <> all (core_private.closed_namespaces())
        returning w.namespace, w.collection, w.watch_id
    loop
        v_total := v_total + 1;
        perform core_private.audit('unwatch_table', r.namespace, null, 'its table is gone',
            jsonb_build_object('collection', r.collection, 'watch_id', r.watch_id));
    end loop;
    for r in
        update core.watched_tables w
           set enabled = false, off_reason = 'principal_revoked'
         where w.enabled and not (core_private.watch_state(w.watch_id)).principal_ok
           and w.namespace <> all (core_private.closed_namespaces())
        returning w.namespace, w.relation, w.watch_id
    loop
        v_total := v_total + 1;
        perform core_private.audit('switch_watch', r.namespace, r.relation::text, 'principal_revoked', '{"on": false}');
    end loop;
    return v_total;
end $$;
comment on function core_private.sweep_watches() is 'Ends the watches of tables that are gone, and switches off those whose role may not produce any more; returns how many.';
