-- Whoever holds the lane may just be handling the message, so his lease has to end first. Of two that skip the same
-- message the second means none: the next one has not failed yet.
create or replace function core.lane_skip(
    p_namespace text, p_queue text, p_lane integer, p_reason text, p_seq bigint = null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz;
    v_lane  core_private.lanes;
    v_owner core_private.lane_owner;
    v_id    bigint;
    v_fails boolean; -- the message itself, as far as is known, and not one of several
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_reason(p_reason);
    v_lane := core_private.lock_lane(core_private.lane_named(p_namespace, p_queue, p_lane));
    v_now := core_private.now();
    select * into v_owner from core_private.lane_owner(v_lane.lane_id, 'operate');
    if v_lane.token is not null and v_lane.locked_until > v_now then
        raise exception using errcode = 'NX222', column = 'p_lane',
            message = format('node %s holds lane %s of %s', v_lane.locked_by, p_lane, quote_literal(p_queue)),
            detail = format('Its lease ends at %s.', v_lane.locked_until),
            hint = format('select core.lane_pause(%L, %L, %s); and again when it has ended.',
                          p_namespace, p_queue, p_lane);
    end if;
    if core_private.of_another_server(v_lane, core_private.cluster_id()) then
        perform core_private.fail_foreign_lane(p_queue);
    end if;
    select r.id into v_id from core_private.read_lane(v_lane, 1) r where v_lane.cur is not null;
    if v_id is null then
        return null;
    end if;
    v_fails := v_lane.attempts > 0 or v_lane.state = 'halted' or v_lane.token is not null and v_lane.handed = 1;
    if p_seq is distinct from v_lane.seq + 1
       and (p_seq is not null or not v_fails and v_lane.state <> 'paused') then
        raise exception using errcode = 'NX206', column = 'p_seq',
            message = format('lane %s of %s stands at message %s, which %s', p_lane, quote_literal(p_queue),
                v_lane.seq + 1, case when p_seq is null then 'has not failed' else 'is not ' || p_seq end),
            hint = format('If that one is meant: select core.lane_skip(%L, %L, %s, %L, %s);',
                          p_namespace, p_queue, p_lane, p_reason, v_lane.seq + 1);
    end if;
    v_lane.token := null;
    v_lane.locked_until := null;
    v_lane := core_private.bury_head(
        v_lane, v_owner, 'skipped', coalesce(case when v_fails then v_lane.last_error end, p_reason), null);
    v_lane.handed := 0;
    v_lane.next_at := '-infinity';
    if v_lane.state = 'halted' then
        v_lane.state := 'active';
    end if;
    perform core_private.store_lane(v_lane);
    perform core_private.audit('lane_skip', p_namespace, p_queue, p_reason,
        jsonb_build_object('lane', p_lane, 'message', v_id, 'seq', v_lane.seq));
    perform core_private.wake(core_private.outbox_key(p_namespace, p_queue), v_now);
    return v_lane.seq;
end $$;
comment on function core.lane_skip(text, text, integer, text, bigint) is 'Makes a dead letter of the message that a lane stands at, and has the lane go on, also if it had halted. p_seq says which message is meant, by its number in the lane; without it the lane has to be paused, or halted, or its message has failed. The dead letter keeps the last error of the message, p_reason is in the audit log; if it had none, in both. Returns the number that the message had; NULL if the lane stands at none. Raises NX006, NX101, NX115, NX206, NX222, NX401, NX402, NX509.';
