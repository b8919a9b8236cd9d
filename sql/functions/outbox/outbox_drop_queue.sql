create or replace function core.outbox_drop_queue(p_namespace text, p_queue text, p_force boolean = false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue record;
    v_held  text[];
    v_left  text[];
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue, true);
    if not coalesce(p_force, false) then
        v_left := core_private.await_enqueuers('1 s'); -- before the look, which then sees what they left
        v_held := array_remove(array[
            case when v_left <> '{}'
                 then format('writers that may have enqueued to it and have not committed: %s',
                             array_to_string(v_left, ', '))
                 end,
            case when core_private.outbox_holds(v_queue.consumer_id) then 'messages that have not ended' end,
            case when exists (
                select
                  from core.dead_letters l
                 where l.namespace = p_namespace and l.source_kind = 'lane' and l.consumer = p_queue
                   and l.resolved_at is null)
                 then 'unresolved dead letters' end], null);
        if v_held <> '{}' then
            raise exception using errcode = 'NX213', column = 'p_queue',
                message = format('outbox queue %s of namespace %s still has %s',
                    quote_literal(p_queue), quote_literal(p_namespace), array_to_string(v_held, ', ')),
                hint = format('Wait until its processors have handled them, look at core.unresolved_dead_letters, or '
                    || 'drop it with all it holds: select core.outbox_drop_queue(%L, %L, true);', p_namespace, p_queue);
        end if;
    end if;
    delete from core.consumers c where c.consumer_id = v_queue.consumer_id;
    delete from core.event_keys k where k.namespace = core_private.outbox_key(p_namespace, p_queue);
    delete from core_private.wake_flags f where f.key = core_private.outbox_key(p_namespace, p_queue);
    perform core_private.audit('outbox_drop_queue', p_namespace, p_queue, null,
        jsonb_build_object('force', coalesce(p_force, false)));
end $$;
comment on function core.outbox_drop_queue(text, text, boolean) is 'Drops an outbox queue; processors lose its lanes. Refused while it has messages that have not ended or unresolved dead letters, and while a transaction that has enqueued to any queue stays open for a second, unless p_force is true: the messages are lost then, and dead letters stay in the ledger. What is enqueued while it is being dropped is lost with it, so producers are to be stopped before. Raises NX101, NX115, NX213, NX401, NX402.';
