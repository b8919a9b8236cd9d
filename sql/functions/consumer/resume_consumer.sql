create or replace function core.resume_consumer(p_namespace text, p_consumer text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id integer;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    v_id := core_private.require_consumer(p_namespace, p_consumer);
    update core.consumers c set state = 'active' where c.consumer_id = v_id and c.state <> 'active';
    if not found then
        return false;
    end if;
    update core.webhooks w
       set failing_since = null, paused_at = null, paused_reason = null
     where w.consumer_id = v_id;
    perform core_private.audit('resume_consumer', p_namespace, p_consumer, null);
    perform core_private.wake(q.queue_name, core_private.now()) from core.queues q where q.consumer_id = v_id;
    perform core_private.wake(core_private.outbox_key(p_namespace, p_consumer), core_private.now());
    return true;
end $$;
comment on function core.resume_consumer(text, text) is 'Nodes claim again from a consumer that was paused or halted. True if it was one. Raises NX101, NX102, NX401, NX402.';
