create or replace function core.lane_pause(p_namespace text, p_queue text, p_lane integer, p_reason text = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lane core_private.lanes;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    v_lane := core_private.lock_lane(core_private.lane_named(p_namespace, p_queue, p_lane));
    if v_lane.state <> 'active' then
        return false;
    end if;
    v_lane.state := 'paused';
    v_lane.blocked_since := coalesce(v_lane.blocked_since, core_private.now());
    perform core_private.store_lane(v_lane);
    perform core_private.audit('lane_pause', p_namespace, p_queue, p_reason, jsonb_build_object('lane', p_lane));
    return true;
end $$;
comment on function core.lane_pause(text, text, integer, text) is 'Lets nobody take up more messages of one lane; what is in hand may end. True if it was active. A whole queue: core.pause_consumer. Raises NX101, NX115, NX401, NX402.';
