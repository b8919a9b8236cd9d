-- Their leases are over from now on, as by time: so whoever takes a lane next counts what was in hand as failed, which
-- finds a message that kills. The token goes, too, lest a clock that is set back gives the lease back with it. A lane
-- that somebody has locked is left to its lease.
create or replace function core_private.end_leases_of_nodes(p_nodes text[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lane  core_private.lanes;
    v_ended integer := 0;
    r       record;
begin
    for r in
        select l.lane_id, c.namespace, c.name
          from (select distinct n.namespace from core.nodes n where n.node_id = any (p_nodes)) s
          join core.consumers c on c.namespace = s.namespace and c.kind in ('outbox', 'ordered')
          join core_private.consumer_lanes l on l.consumer_id = c.consumer_id
         cross join lateral core_private.lane_now(l.lane_id) v
          join core.nodes n on n.namespace = c.namespace and n.node_id = any (p_nodes)
         where v.token is not null and v.locked_until > p_now and v.locked_by = left(n.node_id, 200)
         order by l.lane_id
    loop
        select *
          into v_lane
          from core_private.lanes l
         where l.lane_id = r.lane_id
         order by l.ver desc
         limit 1
           for no key update skip locked;
        continue when (v_lane.token is not null and v_lane.locked_until > p_now) is not true;
        v_lane.token := gen_random_uuid();
        v_lane.locked_until := p_now;
        perform core_private.store_lane(v_lane);
        perform core_private.wake(core_private.outbox_key(r.namespace, r.name), p_now);
        v_ended := v_ended + 1;
    end loop;
    return v_ended;
end $$;
comment on function core_private.end_leases_of_nodes(text[], timestamptz) is 'Ends the leases of lanes that these nodes hold, and returns how many: for nodes that are gone. The caller has locked the rows of the nodes.';
