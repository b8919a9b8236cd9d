create or replace function core.pause_consumer(p_namespace text, p_consumer text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id integer;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    v_id := core_private.require_consumer(p_namespace, p_consumer);
    update core.consumers c set state = 'paused' where c.consumer_id = v_id and c.state = 'active';
    if not found then
        return false;
    end if;
    perform core_private.audit('pause_consumer', p_namespace, p_consumer, null);
    return true;
end $$;
comment on function core.pause_consumer(text, text) is 'Nodes stop claiming from a consumer, at once; what is emitted goes on being delivered to its queue, and handlers that run may end. True if it was active. Raises NX101, NX102, NX401, NX402.';
