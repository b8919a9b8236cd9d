create or replace function core_node.settle_lane(
    p_lane_id integer, p_node text, p_token uuid, p_from bigint, p_done integer = 0, p_last_id bigint = null,
    p_verdict text = null, p_reason text = null, p_error text = null, p_after interval = null,
    p_safe integer = 0, p_of integer = 1)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz;
    v_owner   core_private.lane_owner;
    v_lane    core_private.lanes;
    v_failed  record;
    v_outcome text := 'ok';
begin
    if p_verdict is not null and p_verdict not in ('retry', 'reject', 'release') then
        raise exception using errcode = 'NX006', column = 'p_verdict',
            message = format('p_verdict cannot be %s', quote_literal(left(p_verdict, 100))),
            hint = 'Give retry, reject, release, or NULL.';
    end if;
    select * into v_owner from core_private.lane_owner(p_lane_id, 'consume');
    v_lane := core_private.lock_lane(p_lane_id);
    v_now := core_private.now();
    perform core_private.require_lane_held(v_lane, p_token, p_from, v_now);
    v_lane := core_private.ack_lane(v_lane, p_done, p_last_id);
    if p_verdict is not null then
        perform core_private.check_number(p_safe, 'p_safe', 0, greatest(v_lane.handed - 1, 0));
        perform core_private.check_number(p_of, 'p_of', 1, greatest(v_lane.handed - p_safe, 1));
        if p_verdict = 'release' or v_lane.handed = 0 then
            v_lane.next_at := v_now + coalesce(p_after, '0');
            v_outcome := 'released';
        elsif p_verdict = 'retry' or p_safe > 0 or p_of > 1 then
            select *
              into v_failed
              from core_private.fail_head(v_lane, v_owner, p_safe, p_of, p_reason, p_error, p_after, p_node);
            v_lane := v_failed.lane;
            v_outcome := v_failed.outcome;
        else
            v_lane.attempts := v_lane.attempts + 1;
            v_lane := core_private.bury_head(v_lane, v_owner, coalesce(p_reason, 'rejected'), p_error, p_node);
            v_outcome := 'dead';
        end if;
        v_lane.token := null;
        v_lane.locked_until := null;
        v_lane.handed := 0;
    end if;
    perform core_private.store_lane(v_lane);
    return v_outcome;
end $$;
comment on function core_node.settle_lane(integer, text, uuid, bigint, integer, bigint, text, text, text, interval, integer, integer) is 'For nodes, which call it in the transaction of the handler as well: of the messages that were got with p_token and p_from the first p_done have been done, up to p_last_id. p_verdict is of the next one: retry, reject or release, and the lane is free then; NULL: the lane is held on. Where one of several failed in a transaction that was rolled back: p_safe of them went well before it, and it is one of the p_of behind these. Returns ok, retried, split (they come again in smaller parts, no attempt was used), dead, halted or released. Raises NX006, NX115, NX301, NX401, NX402.';
