-- The lanes are locked in one order. What was settled by a call whose answer was lost is told by the lane's number.
create or replace function core_private.settle_heads(
    p_node text, p_results jsonb, p_all boolean, p_held_at timestamptz)
returns table (outcome text, message_id bigint, due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now    timestamptz := core_private.now();
    v_lane   core_private.lanes;
    v_owner  core_private.lane_owner;
    v_head   core_private.lane_messages;
    v_failed record;
    r        record;
begin
    for r in
        select u.lane, u.token, u.seq, u.id, u.action, u.after, coalesce(u.policy, '{}') as policy,
               core_private.clean_text(u.reason) as reason, u.error
          from jsonb_to_recordset(p_results) u(
                   lane integer, token uuid, seq bigint, id bigint, action text, after interval, policy jsonb,
                   reason text, error text)
         order by u.lane
    loop
        message_id := r.id;
        due_at := null;
        v_lane := null;
        begin
            select * into v_owner from core_private.lane_owner(r.lane, 'consume');
        exception when sqlstate 'NX115' then
            v_owner.namespace := null; -- it went with its consumer
        end;
        if v_owner.namespace is not null then
            v_lane := core_private.lock_lane(r.lane);
        end if;
        if v_owner.namespace is null or v_lane.token is distinct from r.token or v_lane.locked_until <= p_held_at
           or v_lane.seq <> r.seq then
            if p_all then
                v_lane.lane_id := r.lane;
                perform core_private.require_lane_held(v_lane, null, r.seq, p_held_at);
            end if;
            outcome := case when v_lane.seq > r.seq then 'gone' else 'lost' end;
            return next;
            continue;
        end if;
        v_owner.retry := v_owner.retry || r.policy;
        v_owner.max_attempts := coalesce((r.policy ->> 'max_attempts')::integer, v_owner.max_attempts);
        case r.action
        when 'ack' then
            v_lane := core_private.ack_lane(v_lane, 1, r.id);
            v_lane.next_at := '-infinity';
            outcome := null;
        when 'release' then
            v_lane.next_at := v_now + r.after;
            outcome := 'released';
        when 'reject' then
            v_lane.attempts := v_lane.attempts + 1;
            v_lane := core_private.bury_head(v_lane, v_owner, coalesce(r.reason, 'rejected'), r.error, p_node);
            outcome := 'buried';
        else
            select m.* into v_head from core_private.lane_messages m where m.lane_id = r.lane and m.id = r.id;
            select *
              into v_failed
              from core_private.fail_head(v_lane, v_owner, 0, 1, r.reason, r.error, r.after, p_node);
            v_lane := v_failed.lane;
            outcome := case v_failed.outcome when 'dead' then 'buried' else v_failed.outcome end;
            if outcome <> 'buried' then
                perform core_private.note_lane_failure(v_lane, v_owner, v_head, r.reason, p_node);
            end if;
        end case;
        v_lane.token := null;
        v_lane.locked_until := null;
        v_lane.handed := 0;
        perform core_private.store_lane(v_lane);
        if outcome is not null then
            due_at := case when outcome in ('retried', 'released') then v_lane.next_at end;
            return next;
        end if;
    end loop;
end $$;
comment on function core_private.settle_heads(text, jsonb, boolean, timestamptz) is 'What core_node.settle_ordered does, for results that are well formed and leases that held at p_held_at, from when on the caller has the lanes locked; else now. Raises NX301, NX401, NX402.';
