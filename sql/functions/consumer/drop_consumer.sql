-- The consumer goes at once, its queue when no transaction is left that found the consumer: to lock the table here
-- would keep every emit to it waiting, behind the longest of them. What such a transaction still delivers, nobody gets:
-- its event comes after the drop.
create or replace function core.drop_consumer(p_namespace text, p_consumer text, p_force boolean = false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id    integer;
    v_queue text;
    v_held  text[];
    v_there boolean := false;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    if p_consumer = 'default' then
        raise exception using errcode = 'NX006', column = 'p_consumer',
            message = 'consumer ''default'' goes with its namespace alone',
            hint = format('To give it no events: select core.alter_namespace(%L, ''{"default_consumer": "off"}'');',
                          p_namespace);
    end if;
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    v_id := core_private.require_consumer(p_namespace, p_consumer, true);
    perform core_private.refuse_outbox(v_id);
    if exists (select from core.triggers t where t.namespace = p_namespace and t.consumer = p_consumer) then
        raise exception using errcode = 'NX223', column = 'p_consumer',
            message = format('triggers deliver to consumer %s', quote_literal(p_consumer)),
            hint = 'Delete these first, or give them another consumer: core.trigger_status has them.';
    end if;
    select c.queue_name into v_queue from core.consumers c where c.consumer_id = v_id;
    perform from core_private.parking k where k.queue_name = v_queue for update;
    if not coalesce(p_force, false) then
        if to_regclass(core_private.queue_relation(v_queue)) is not null then
            execute format('select exists (select from %s)', core_private.queue_relation(v_queue)) into v_there;
        end if;
        v_held := array_remove(array[
            case when v_queue is null and core_private.outbox_holds(v_id) then 'events in its lanes' end,
            case when v_there then 'messages on its queue' end,
            case when exists (select from core.delayed d where d.queue_name = v_queue) then 'delayed events' end,
            case when exists (select from core.parked p where p.queue_name = v_queue) then 'parked events' end,
            case when exists (
                select from core.dead_letters l
                 where l.namespace = p_namespace and l.consumer = p_consumer and l.resolved_at is null)
                 then 'unresolved dead letters' end,
            case when exists (
                select from core_private.backfills b
                 where b.consumer_id = v_id and b.state <> 'done')
                 then 'a backfill that has not ended' end], null);
        if v_held <> '{}' then
            raise exception using errcode = 'NX213', column = 'p_consumer',
                message = format('consumer %s of namespace %s still has %s',
                    quote_literal(p_consumer), quote_literal(p_namespace), array_to_string(v_held, ', ')),
                hint = format('Wait until its nodes have handled them, look at core.unresolved_dead_letters, or drop '
                    || 'it with all it holds: select core.drop_consumer(%L, %L, true);', p_namespace, p_consumer);
        end if;
    end if;
    update core.queues q
       set consumer_id = null, dropped_at = core_private.now(), dropped_xact = pg_current_xact_id()
     where q.queue_name = v_queue;
    delete from core.parked p where p.queue_name = v_queue;
    delete from core_private.parking k where k.queue_name = v_queue;
    delete from core.consumers c where c.consumer_id = v_id;
    perform core_private.audit('drop_consumer', p_namespace, p_consumer, null,
        jsonb_build_object('force', coalesce(p_force, false), 'queue', v_queue));
end $$;
comment on function core.drop_consumer(text, text, boolean) is 'Drops a named consumer: it gets no more events, its handlers lose their leases, and its queue is dropped by the next tick at which no transaction of before is alive. Refused while it has anything undelivered or unresolved dead letters, unless p_force is true: what waits is lost then; dead letters stay in the ledger. Emits go on meanwhile. Raises NX006, NX101, NX102, NX213, NX223, NX401, NX402.';
