-- Queues without a live node are left alone, and so are those of a consumer that is paused. Each queue
-- has a bounded share, and after p_for or p_queues of them the rest waits for the next run, which
-- begins with those that were seen longest ago. A queue that somebody else works on, or has locked, is
-- passed over, so this waits for nobody. A queue that waits for its turn for longer than three
-- heartbeats counts no more than these as life: its messages are given up later, never earlier.
create or replace function core_private.park_unhandled(
    p_window integer = 50000, p_limit integer = 10000, p_for interval = '1 second', p_queues integer = 100)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
    v_now      timestamptz := core_private.now();
    v_closed   text[] := core_private.closed_namespaces();
    v_end      timestamptz := clock_timestamp() + p_for;
    v_parking  core_private.parking;
    v_patterns text[];
    v_lived    interval;
    v_back     integer;
    v_parked   integer := 0;
    v_unparked integer := 0;
    v_buried   integer := 0;
    v_removed  integer := 0;
    v_gone     jsonb;
    v_moved    integer;
    r          record;
begin
    for r in
        select q.queue_name, q.namespace, c.name as consumer,
               coalesce(c.unhandled_after, n.unhandled_after) as unhandled_after, l.since, l.silence
          from (select m.namespace, a.consumer,
                       min(m.registered_at) as since, max(3 * m.heartbeat_every) as silence
                  from core.nodes m
                 cross join lateral (
                       select a.consumer
                         from core_private.node_capabilities a
                        where a.node_id = m.node_id and a.incarnation = m.incarnation and a.kind = 'event_type'
                        union
                       -- Any node starts workflows.
                       select c.name
                         from core.consumers c
                        where c.namespace = m.namespace and c.routed
                          and core_private.workflow_targets(m.namespace) is not null) a
                 where m.state in ('starting', 'active', 'draining')
                   and m.last_heartbeat >= v_now - 3 * m.heartbeat_every
                   and m.namespace <> all (v_closed)
                 group by m.namespace, a.consumer) l
          join core.namespaces n on n.namespace = l.namespace
          join core.consumers c on c.namespace = l.namespace and c.name = l.consumer and c.state = 'active'
          join core.queues q on q.consumer_id = c.consumer_id
          join core_private.parking k on k.queue_name = q.queue_name
         where to_regclass(core_private.queue_relation(q.queue_name)) is not null
         order by k.seen_at, k.queue_name limit p_queues
    loop
        select * into v_parking from core_private.parking k where k.queue_name = r.queue_name for update skip locked;
        continue when not found;
        -- With a new snapshot, now that nobody else writes: whoever registered before is in it.
        v_patterns := core_private.live_patterns(r.namespace, r.consumer, v_now);
        continue when v_patterns is null;

        -- What is known to have been life: since the oldest of those that live registered, and no more at once
        -- than three heartbeats.
        v_lived := least(greatest(v_now - greatest(v_parking.seen_at, r.since), interval '0'), r.silence);
        update core_private.parking k set lived = k.lived + v_lived, seen_at = v_now where k.queue_name = r.queue_name;
        v_lived := v_parking.lived + v_lived;

        begin
            v_gone := '{"buried": 0, "removed": 0}';
            v_moved := 0;
            v_back := core_private.pull_back(r.queue_name, v_patterns, p_limit);
            -- Only when nothing is left that somebody handles.
            if v_back < p_limit then
                v_gone := core_private.give_up_parked(
                    r.queue_name, r.namespace, r.consumer, v_lived - r.unhandled_after, p_limit);
            end if;
            if v_parking.rest_until <= v_now then
                v_moved := core_private.park(r.queue_name, r.namespace, v_patterns, p_window);
            end if;
            v_unparked := v_unparked + v_back;
            v_buried := v_buried + (v_gone ->> 'buried')::integer;
            v_removed := v_removed + (v_gone ->> 'removed')::integer;
            v_parked := v_parked + v_moved;
        exception when lock_not_available or undefined_table or sqlstate 'NX110' then
            perform set_config('lock_timeout', '1ms', true);
        end;
        exit when clock_timestamp() > v_end;
    end loop;
    return jsonb_build_object('parked', v_parked, 'unparked', v_unparked, 'buried', v_buried, 'removed', v_removed);
end $$;
comment on function core_private.park_unhandled(integer, integer, interval, integer) is 'Parks messages of types that no live node of their consumer handles, puts back what somebody handles again, and gives up what has waited for unhandled_after. Per queue it looks at p_window messages and puts back or gives up p_limit, and p_queues queues a call.';
