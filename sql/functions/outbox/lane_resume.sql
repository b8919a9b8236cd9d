create or replace function core.lane_resume(p_namespace text, p_queue text, p_lane integer, p_reason text = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_lane core_private.lanes;
    v_was  text;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    v_lane := core_private.lock_lane(core_private.lane_named(p_namespace, p_queue, p_lane));
    v_was := v_lane.state;
    if v_was = 'active' and v_lane.next_at <= v_now then
        return false;
    end if;
    v_lane.state := 'active';
    v_lane.next_at := '-infinity';
    if v_was = 'halted' then
        v_lane.attempts := 0;
    end if;
    if v_lane.attempts = 0 and v_lane.suspect_until <= v_lane.seq then
        v_lane.blocked_since := null;
    end if;
    perform core_private.store_lane(v_lane);
    perform core_private.audit('lane_resume', p_namespace, p_queue, p_reason,
        jsonb_build_object('lane', p_lane, 'was', v_was));
    perform core_private.wake(core_private.outbox_key(p_namespace, p_queue), v_now);
    return true;
end $$;
comment on function core.lane_resume(text, text, integer, text) is 'Has a lane go on that was paused, that halted (its next message has all its attempts again), or that waits for the next attempt. True if it did not go on already. Raises NX101, NX115, NX401, NX402.';
