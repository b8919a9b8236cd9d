-- An emitter that is told of a waiting event must find it handled after its own commit, so no node may begin with the
-- event before. The waiting row is therefore locked FOR SHARE: claims pass over it until the commit, and several
-- emitters may hold it. A row that a node has in hand is not locked, because the handler would wait for it at its
-- ack. A message whose lease has run out may still be settled, so it does not count as queued until it is claimed
-- again.
--
-- Emitters without a gap between them would hold one event for ever. Once the event has been due for a second, an
-- emitter that finds others holding it does not join them.
create or replace function core_private.keeps_key(
    p_namespace text, p_msg_id bigint, p_event_id bigint, p_queued boolean, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue    text := 'core_events_' || replace(p_namespace, '-', '_');
    v_relation text := core_private.queue_relation(v_queue);
    v_look     text;
    v_overdue  boolean;
    v_held     boolean := false;
begin
    if to_regclass(v_relation) is not null then
        v_look := format($q$
            select q.vt <= $3 - interval '1 second'
              from %s q
             where q.msg_id = $1 and q.message ->> 'eventId' = $2
               and (not core_private.is_leased(q.vt, q.read_ct, q.headers) or not $4 and q.vt <= $3)
            $q$, v_relation);
        execute v_look into v_overdue using p_msg_id, p_event_id::text, p_now, p_queued;
        if v_overdue then
            begin
                execute v_look || ' for update skip locked'
                   into v_held
                  using p_msg_id, p_event_id::text, p_now, p_queued;
                raise sqlstate 'P0001'; -- lets it go again
            exception when sqlstate 'P0001' then
                v_overdue := v_held is null; -- others hold it
                v_held := false;
            end;
        end if;
        if not v_overdue then
            execute v_look || ' for share skip locked'
               into v_held
              using p_msg_id, p_event_id::text, p_now, p_queued;
            v_held := v_held is not null;
        end if;
    end if;
    if not v_held and v_overdue is null then
        select true
          into v_held
          from core.delayed d
         where d.queue_name = v_queue and d.msg_id = p_msg_id
           for share skip locked;
        if v_held is not true then
            select true
              into v_held
              from core.parked p
             where p.event_id = p_event_id and p.queue_name = v_queue
               for share skip locked;
        end if;
    end if;
    if v_held then
        perform core_private.wake(v_queue, p_now); -- at the commit: claimers have passed over it
        return true;
    end if;
    return not p_queued and core_private.is_pending(p_namespace, p_msg_id, p_event_id);
end $$;
comment on function core_private.keeps_key(text, bigint, bigint, boolean, timestamptz) is 'Whether an event still keeps its dedupe key, from one that asks for it while queued, or else while pending. If it waits nobody claims it before the transaction ends, unless others hold it a second after it was due.';
