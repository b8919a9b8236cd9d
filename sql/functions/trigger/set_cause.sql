-- Of several that share a transaction the deepest counts, so that a loop ends. Nobody asks where there are no triggers.
create or replace function core_private.set_cause(p_queue text, p_namespace text, p_tids tid[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_message jsonb;
begin
    if exists (select from core.triggers t where t.namespace = p_namespace and t.enabled) then
        execute format($q$
            select q.message
              from %s q
             where q.ctid = any ($1)
             order by coalesce(core_private.header_number(q.message, 'depth'), 0) desc, q.msg_id
             limit 1
            $q$, core_private.queue_relation(p_queue))
           into v_message
          using p_tids;
        perform set_config('nexus.cause', core_private.cause_of(v_message), true);
    end if;
end $$;
comment on function core_private.set_cause(text, text, tid[]) is 'Has what is emitted in SQL by the rest of the transaction be caused by the deepest of these messages of a queue.';
