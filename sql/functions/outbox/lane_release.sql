-- Whoever held it may live: his next renewal finds the lease lost, and what he settles is refused.
create or replace function core.lane_release(p_namespace text, p_queue text, p_lane integer, p_reason text = null)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz;
    v_lane   core_private.lanes;
    v_holder text;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    v_lane := core_private.lock_lane(core_private.lane_named(p_namespace, p_queue, p_lane));
    v_now := core_private.now();
    if (v_lane.token is not null and v_lane.locked_until > v_now) is not true then
        return null;
    end if;
    v_holder := v_lane.locked_by;
    v_lane.token := null;
    v_lane.locked_until := null;
    v_lane.handed := 0;
    perform core_private.store_lane(v_lane);
    perform core_private.audit('lane_release', p_namespace, p_queue, p_reason,
        jsonb_build_object('lane', p_lane, 'node', v_holder));
    perform core_private.wake(core_private.outbox_key(p_namespace, p_queue), v_now);
    return v_holder;
end $$;
comment on function core.lane_release(text, text, integer, text) is 'Takes a lane from whoever holds it, before its lease ends, and returns which node that was; NULL if nobody held it. What was in hand comes again and has used no attempt. Whoever had it can settle nothing and renew nothing any more, but what a handler does outside of the database goes on until its node asks for its leases, so it may be done twice at once: it is meant for nodes that are gone, or hang. Nodes that are lost need no such call. Raises NX101, NX115, NX401, NX402.';
