-- What an emit that still saw it delivers later is dropped at its claim.
create or replace function core.delete_trigger(p_namespace text, p_name text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
    v_queue   text;
    v_n       bigint;
    v_total   bigint := 0;
begin
    delete from core.triggers t where t.trigger_id = v_trigger.trigger_id;
    for v_queue in
        select c.queue_name from core.consumers c where c.namespace = p_namespace and c.routed order by c.queue_name
    loop
        perform from core_private.parking k where k.queue_name = v_queue for update;
        delete from core.parked p
         where p.queue_name = v_queue and p.message ->> 'triggerId' = v_trigger.trigger_id::text;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
        delete from core.delayed d
         where d.queue_name = v_queue and d.message ->> 'triggerId' = v_trigger.trigger_id::text;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
        continue when to_regclass(core_private.queue_relation(v_queue)) is null;
        execute format($q$
            with found as materialized (
                select q.msg_id from %1$s q where q.message ->> 'triggerId' = $1 order by q.msg_id for update)
            delete from %1$s q using found f where q.msg_id = f.msg_id
            $q$, core_private.queue_relation(v_queue))
          using v_trigger.trigger_id::text;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
    end loop;
    perform core_private.audit('delete_trigger', p_namespace, p_name, null,
        jsonb_build_object('trigger_id', v_trigger.trigger_id, 'target', v_trigger.target, 'removed', v_total));
    return v_total;
end $$;
comment on function core.delete_trigger(text, text) is 'Deletes a trigger with its deliveries that are not acknowledged, and returns how many there were. Raises 42501, NX101, NX114, NX401, NX402.';

create or replace function core.delete_trigger(p_trigger_id uuid)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger record;
begin
    select * into v_trigger from core_private.trigger_named(p_trigger_id);
    return core.delete_trigger(v_trigger.namespace, v_trigger.name);
end $$;
comment on function core.delete_trigger(uuid) is 'core.delete_trigger of the trigger of that id. Raises 42501, NX114, NX401, NX402.';
