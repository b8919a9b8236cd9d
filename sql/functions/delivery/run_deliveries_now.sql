-- What is due earlier than it was may lie below the floor of nodes, as a due retry may; the wake-up
-- has idle ones look, and the sweep of busy ones finds it. The fence stays: nobody holds it.
create or replace function core.run_deliveries_now(p_namespace text, p_event_ids bigint[], p_consumer text = null)
returns table (event_id bigint, consumer text, outcome text, detail text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := core_private.now();
    v_seen bigint[] := '{}';
    v_done bigint[];
    q      record;
    t      record;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_event_ids(p_event_ids);
    for q in select * from core_private.queues_of(p_namespace, p_consumer) loop
        perform core_private.queue_owner(q.queue_name, 'operate');
        select coalesce(array_agg(d.event_id), '{}') as events,
               coalesce(array_agg(d.msg_id), '{}') as ids,
               coalesce(array_agg(d.vt), '{}') as vts,
               coalesce(array_agg(d.outcome), '{}') as outcomes,
               coalesce(array_agg(d.detail), '{}') as details
          into t
          from core_private.take_deliveries(q.queue_name, p_namespace, q.consumer, p_event_ids, false) d;
        v_done := array(
            select u.id
              from unnest(t.ids, t.vts, t.outcomes) u(id, vt, outcome)
             where u.outcome = 'taken' and (u.vt is null or u.vt > v_now));
        if v_done <> '{}' then
            execute format($q$
                update %s q
                   set vt = $1,
                       headers = core_private.headers_object(q.headers)
                                 || jsonb_build_object('nexus-due', core_private.iso($1))
                 where q.msg_id = any ($2)
                $q$, core_private.queue_relation(q.queue_name))
              using v_now, v_done;
            perform core_private.wake(q.queue_name, v_now);
            perform core_private.audit('run_deliveries_now', p_namespace, q.queue_name, null, jsonb_build_object(
                'done', cardinality(v_done),
                'first_events', to_jsonb((array(
                    select u.event
                      from unnest(t.events, t.ids) u(event, id)
                     where u.id = any (v_done)
                     order by 1))[1:100])));
        end if;
        v_seen := v_seen || t.events;
        return query
            select u.event, q.consumer,
                   case when u.id = any (v_done) then 'due_now'
                        when u.outcome = 'taken' then 'already_due'
                        else u.outcome end,
                   u.detail
              from unnest(t.events, t.ids, t.outcomes, t.details) u(event, id, outcome, detail)
             order by u.event, u.id;
    end loop;
    return query
        select n.event_id, p_consumer, n.outcome, n.detail
          from core_private.undelivered_nowhere(
                   p_namespace, p_consumer,
                   array(select u.id from unnest(p_event_ids) u(id) where u.id <> all (v_seen))) n;
end $$;
comment on function core.run_deliveries_now(text, bigint[], text) is 'Makes deliveries due that wait for a retry or a delay: those of the events given, to one consumer or to all. Attempts are counted on. A row for each with its outcome: due_now, already_due, in_flight, parked (no live node handles its type), busy (held by another transaction; try again), and for events without one dead, settled or not_found. Raises NX006, NX101, NX102, NX110, NX401, NX402, NX603.';
