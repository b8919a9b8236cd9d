-- By ids alone, wherever a delivery can be. The queue is asked for the event too: somebody may have put another
-- message there by hand.
create or replace function core_private.is_pending(p_namespace text, p_msg_id bigint, p_event_id bigint)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue    text := 'core_events_' || replace(p_namespace, '-', '_');
    v_relation text := core_private.queue_relation(v_queue);
    v_there    boolean := false;
begin
    if to_regclass(v_relation) is not null then
        execute format($q$
            select exists (select from %s q where q.msg_id = $1 and q.message ->> 'eventId' = $2)
            $q$, v_relation)
           into v_there
          using p_msg_id, p_event_id::text;
    end if;
    return v_there
        or exists (select from core.delayed d where d.queue_name = v_queue and d.msg_id = p_msg_id)
        or exists (select from core.parked p where p.event_id = p_event_id and p.queue_name = v_queue);
end $$;
comment on function core_private.is_pending(text, bigint, bigint) is 'Whether the delivery of an event to the default consumer waits, is delayed, parked or being handled. What lies among the dead letters is not.';
