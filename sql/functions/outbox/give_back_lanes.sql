-- A lane whose lease has ended is not given back: who held it may have been frozen, and what it had in hand has failed.
create or replace function core_node.give_back_lanes(p_namespace text, p_queue text, p_tokens uuid[])
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_queue record;
    v_lane  core_private.lanes;
    v_freed integer := 0;
    r       record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    select * into v_queue from core_private.lanes_named(p_namespace, p_queue);
    for r in
        select l.lane_id
          from core_private.consumer_lanes l
         cross join lateral core_private.lane_now(l.lane_id) n
         where l.consumer_id = v_queue.consumer_id and n.token = any (p_tokens)
         order by l.lane_id
    loop
        v_lane := core_private.lock_lane(r.lane_id);
        continue when (v_lane.token = any (p_tokens) and v_lane.locked_until > v_now) is not true;
        v_lane.token := null;
        v_lane.locked_until := null;
        v_lane.handed := 0;
        perform core_private.store_lane(v_lane);
        v_freed := v_freed + 1;
    end loop;
    return v_freed;
end $$;
comment on function core_node.give_back_lanes(text, text, uuid[]) is 'For nodes: gives back what they hold of an outbox queue or an ordered consumer by these tokens, wherever the lanes are and without using an attempt, and returns how many these were: for claims and settlements whose answers were lost, so that nothing of them is in hand. Raises NX101, NX115, NX401, NX402.';
