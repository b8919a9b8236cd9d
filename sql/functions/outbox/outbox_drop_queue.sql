create or replace function core.outbox_drop_queue(p_namespace text, p_queue text, p_force boolean = false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_force boolean := coalesce(p_force, false);
    v_queue record;
    v_left  text[];
begin
    perform core_private.require_duty(p_namespace, 'operate');
    if not v_force then
        perform core_private.require_read_committed('core.outbox_drop_queue');
    end if;
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue, true);
    v_left := core_private.await_enqueuers(case when v_force then '0' else interval '1 s' end);
    v_left := core_private.outbox_left(p_namespace, p_queue, v_queue.consumer_id, v_left); -- sees what they left
    if v_left <> '{}' and not v_force then
        raise exception using errcode = 'NX213', column = 'p_queue',
            message = format('outbox queue %s of namespace %s still has %s',
                quote_literal(p_queue), quote_literal(p_namespace), array_to_string(v_left, ', ')),
            hint = format('Wait until its processors have handled them, look at core.unresolved_dead_letters, or '
                || 'drop it with all it holds: select core.outbox_drop_queue(%L, %L, true);', p_namespace, p_queue);
    elsif v_left <> '{}' then
        raise notice using message = format('outbox queue %s of namespace %s is dropped although it has %s',
            quote_literal(p_queue), quote_literal(p_namespace), array_to_string(v_left, ', '));
    end if;
    -- In the order in which who enqueues locks them.
    delete from core.event_keys k where k.namespace = core_private.outbox_key(p_namespace, p_queue);
    delete from core.consumers c where c.consumer_id = v_queue.consumer_id;
    delete from core_private.wake_flags f where f.key = core_private.outbox_key(p_namespace, p_queue);
    perform core_private.audit('outbox_drop_queue', p_namespace, p_queue, null,
        jsonb_build_object('force', v_force)
        || case when v_left <> '{}' then jsonb_build_object('left', v_left) else '{}' end);
end $$;
comment on function core.outbox_drop_queue(text, text, boolean) is 'Drops an outbox queue; processors lose its lanes. Refused while it has messages that have not ended or unresolved dead letters, and while a transaction that has enqueued to any queue stays open for a second, unless p_force is true: the messages are lost then, and dead letters stay in the ledger. What it has is counted, to 10,000 of each: in the error or, with p_force, in a notice and the audit log. What is enqueued while it is being dropped is lost with it, so producers are to be stopped before. Raises NX101, NX115, NX213, NX401, NX402; 55000 unless the transaction is read committed or p_force is true.';
