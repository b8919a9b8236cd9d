-- Whoever works a queue from elsewhere than a node says so to nobody. But he waits for wake-ups while it is idle; and
-- while messages wait he holds lanes, or has let them go just now: by a verdict, which says from when on the lane may
-- be taken again, or as it had no more for him. Both lie a minute back at most, and so does who is not asked for yet.
create or replace function core_private.unworked_before(p_consumer_id integer)
returns timestamptz
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now    timestamptz := core_private.now();
    v_before timestamptz := v_now - interval '1 minute';
    v_queue  core.consumers;
begin
    select *
      into v_queue
      from core.consumers c
     where c.consumer_id = p_consumer_id and c.kind = 'outbox' and c.state = 'active';
    if not found
       or exists (
              select
                from core.nodes n
                join core_private.node_capabilities a on a.node_id = n.node_id and a.incarnation = n.incarnation
               where n.namespace = v_queue.namespace and n.state in ('starting', 'active')
                 and n.last_heartbeat >= v_now - 3 * n.heartbeat_every
                 and a.kind = 'outbox' and a.consumer = '' and a.key = v_queue.name)
       or exists (
              select
                from core_private.wake_flags f
               where f.key = core_private.outbox_key(v_queue.namespace, v_queue.name) and f.waiting_until > v_now)
       or exists (
              select
                from core_private.consumer_lanes k
               cross join lateral (
                   select l.next_at, l.locked_until
                     from core_private.lanes l
                    where l.lane_id = k.lane_id
                    order by l.ver desc
                    limit 1) v
               where k.consumer_id = p_consumer_id
                 and (v.locked_until > v_before or v.next_at > v_before and v.next_at <= v_now)) then
        return null;
    end if;
    return v_before;
end $$;
comment on function core_private.unworked_before(integer) is 'If no live node works the lanes of an outbox queue, and nobody else seems to: a minute ago, since what could have been taken before then waits for nobody. Else NULL. Whoever calls it has asked whether the caller may know.';
