create or replace function core_private.lane_owner(p_lane_id integer, p_duty text)
returns core_private.lane_owner
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner      core_private.lane_owner;
    v_restricted boolean;
begin
    select c.namespace, c.name, c.consumer_id, l.lane, c.state = 'active',
           core_private.max_attempts(c.retry, n.retry), n.retry || c.retry, c.exhausted = 'halt', l.generation,
           c.kind = 'ordered', n.restricted
      into v_owner.namespace, v_owner.queue_name, v_owner.consumer_id, v_owner.lane, v_owner.active,
           v_owner.max_attempts, v_owner.retry, v_owner.halts, v_owner.generation, v_owner.events, v_restricted
      from core_private.consumer_lanes l
      join core.consumers c on c.consumer_id = l.consumer_id
      join core.namespaces n on n.namespace = c.namespace
     where l.lane_id = p_lane_id;
    -- What passes takes one expression.
    if v_owner.namespace is not null and not v_restricted and p_duty = 'consume'
       and core_private.is_plainly('nexus_consumer') then
        return v_owner;
    end if;
    if v_owner.namespace is null or v_restricted and core_private.is_hidden(v_owner.namespace) then
        perform core_private.fail_lane('p_lane_id', p_lane_id::text);
    end if;
    if not core_private.has_duty(v_owner.namespace, p_duty, v_restricted) then
        perform core_private.require_duty(v_owner.namespace, p_duty, 'p_lane_id');
    end if;
    return v_owner;
end $$;
comment on function core_private.lane_owner(integer, text) is 'Whose a lane is, and by which rules its messages are retried. Raises NX115; NX401 or NX402 unless the caller may do this in that namespace.';
