-- Locks no row that a handler's transaction has locked to settle it: such a lane counts as held.
create or replace function core_node.extend_lanes(p_lane_ids integer[], p_tokens uuid[], p_lease interval)
returns integer[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '10ms'
as $$
declare
    v_now  timestamptz := core_private.now();
    v_lane core_private.lanes;
    v_lost integer[] := '{}';
    r      record;
begin
    perform core_private.check_lease(p_lease);
    if cardinality(p_lane_ids) is distinct from cardinality(p_tokens) or cardinality(p_lane_ids) > 10000 then
        raise exception using errcode = 'NX006', column = 'p_lane_ids',
            message = format('there are %s lanes and %s tokens',
                coalesce(cardinality(p_lane_ids)::text, 'no'), coalesce(cardinality(p_tokens)::text, 'no')),
            hint = 'Give one token for each lane, 10000 at most.';
    end if;
    for r in
        select distinct on (u.id) u.id, u.token
          from unnest(p_lane_ids, p_tokens) u(id, token)
         where u.id is not null
         order by u.id
    loop
        perform core_private.lane_owner(r.id, 'consume');
        v_lane := core_private.lane_now(r.id);
        if r.token is null or v_lane.token is distinct from r.token
           or v_lane.locked_until <= v_now then
            v_lost := v_lost || r.id;
            continue;
        end if;
        begin
            v_lane := core_private.lock_lane(r.id);
            if v_lane.token is distinct from r.token or v_lane.locked_until <= core_private.now() then
                v_lost := v_lost || r.id;
            else
                v_lane.locked_until := core_private.now() + p_lease;
                perform core_private.store_lane(v_lane);
            end if;
        exception when lock_not_available then
            null;
        end;
    end loop;
    return v_lost;
end $$;
comment on function core_node.extend_lanes(integer[], uuid[], interval) is 'For nodes: renews the leases of lanes that they hold by these tokens, and returns those that are lost. Raises NX006, NX115, NX401, NX402.';
