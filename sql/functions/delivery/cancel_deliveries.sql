-- A cancelled delivery is buried and resolved in one transaction: so the ledger has its payload, who
-- did it and why, and what reads the ledger needs to know nothing new.
create or replace function core.cancel_deliveries(
    p_namespace text, p_event_ids bigint[], p_reason text, p_consumer text = null)
returns table (event_id bigint, consumer text, outcome text, dead_letter_id bigint, detail text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen bigint[] := '{}';
    v_dead bigint[] := '{}';
    v_of   jsonb;
    v_ids  bigint[];
    v_cts  integer[];
    q      record;
    t      record;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_event_ids(p_event_ids);
    perform core_private.check_reason(p_reason, 'Say why; it is kept with what is cancelled.');
    for q in select * from core_private.queues_of(p_namespace, p_consumer) loop
        perform core_private.queue_owner(q.queue_name, 'operate');
        select coalesce(array_agg(d.event_id), '{}') as events,
               coalesce(array_agg(d.msg_id), '{}') as ids,
               coalesce(array_agg(d.read_ct), '{}') as cts,
               coalesce(array_agg(d.outcome), '{}') as outcomes,
               coalesce(array_agg(d.detail), '{}') as details
          into t
          from core_private.take_deliveries(q.queue_name, p_namespace, q.consumer, p_event_ids, true) d;
        select array_agg(u.id), array_agg(u.ct)
          into v_ids, v_cts
          from unnest(t.ids, t.cts, t.outcomes) u(id, ct, outcome)
         where u.outcome = 'taken';
        if v_ids is not null then
            perform core_private.bury(
                q.queue_name, null, v_ids, v_cts,
                array_fill('cancelled'::text, array[cardinality(v_ids)]),
                array_fill(p_reason, array[cardinality(v_ids)]));
        end if;
        v_of := (
            select jsonb_object_agg(l.msg_id, l.dead_letter_id)
              from core.dead_letters l
             where l.queue_name = q.queue_name and l.source_kind in ('delivery', 'trigger')
               and l.status = 'pending' and l.reason = 'cancelled'
               and l.msg_id = any (v_ids));
        v_dead := v_dead || array(select v.value::bigint from jsonb_each_text(v_of) v);
        v_seen := v_seen || t.events;
        return query
            select u.event, q.consumer,
                   case u.outcome when 'taken' then 'cancelled' else u.outcome end,
                   (v_of ->> u.id::text)::bigint, u.detail
              from unnest(t.events, t.ids, t.outcomes, t.details) u(event, id, outcome, detail)
             order by u.event, u.id;
    end loop;
    if v_dead <> '{}' then
        perform core_private.mark_resolved(v_dead, 'cancelled', p_reason);
    end if;
    return query
        select n.event_id, p_consumer, n.outcome, null::bigint, n.detail
          from core_private.undelivered_nowhere(
                   p_namespace, p_consumer,
                   array(select u.id from unnest(p_event_ids) u(id) where u.id <> all (v_seen))) n;
end $$;
comment on function core.cancel_deliveries(text, bigint[], text, text) is 'Takes deliveries back that wait, are delayed or parked, so that nobody handles them: those of the events given, to one consumer or to all. A row for each with its outcome: cancelled (the dead letter keeps it, resolved as that), in_flight (leased: the lease is respected), busy (in an express batch, or held by another transaction; try again), and for events without one dead, settled or not_found. The events stay in the log. Raises NX006, NX101, NX102, NX110, NX401, NX402, NX603.';
