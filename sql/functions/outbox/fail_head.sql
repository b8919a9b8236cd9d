-- One place says what a failure means, be it told or found out by the end of a lease. Whose failure it was is known if
-- one message was in hand, or if all before it are known to be well; then it counts. Else they are handled in halves
-- until it is alone, and nothing is counted meanwhile.
create or replace function core_private.fail_head(
    p_lane core_private.lanes, p_owner core_private.lane_owner, p_safe integer, p_of integer, p_reason text,
    p_error text, p_after interval, p_node text, out lane core_private.lanes, out outcome text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_error text := left(core_private.clean_text(coalesce(p_error, p_reason, 'failed')), 8192);
begin
    lane := p_lane;
    lane.last_error := v_error;
    lane.blocked_since := coalesce(lane.blocked_since, v_now);
    if p_safe > 0 or p_of > 1 then
        lane.safe_until := lane.seq + p_safe;
        lane.suspect_until := lane.seq + p_safe + p_of;
        outcome := 'split';
        return;
    end if;
    lane.attempts := lane.attempts + 1;
    if p_owner.max_attempts > 0 and lane.attempts >= p_owner.max_attempts then
        if p_owner.halts then
            lane.state := 'halted';
            outcome := 'halted';
        else
            lane := core_private.bury_head(lane, p_owner, coalesce(p_reason, 'attempts used up'), v_error, p_node);
            outcome := 'dead';
        end if;
        return;
    end if;
    lane.next_at := v_now + coalesce(p_after, core_node.retry_delay(p_owner.retry, lane.attempts));
    outcome := 'retried';
end $$;
comment on function core_private.fail_head(core_private.lanes, core_private.lane_owner, integer, integer, text, text, interval, text) is 'A lane one of whose p_of messages behind the next p_safe ones has failed: they are split, or the next one is retried, made a dead letter, or halts the lane.';
