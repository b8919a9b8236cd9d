-- A result that is sent again finds the turn over: lost, and nothing changes.
create or replace function core_node.settle_broadcast(p_node_id text, p_holder uuid, p_turn bigint, p_result jsonb)
returns table (outcome text, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now       timestamptz := core_private.now();
    v_namespace text := core_private.node_namespace(p_node_id, 'consume');
    v_cursor    core_private.broadcast_cursors;
    v_row       core_private.broadcast_deliveries;
    v_action    text;
    v_after     interval;
begin
    perform core_private.check_option_keys(p_result, array['action', 'after', 'policy', 'reason', 'error'], 'p_result');
    v_action := coalesce(p_result ->> 'action', 'ack');
    if v_action not in ('ack', 'retry', 'reject', 'release') then
        perform core_private.fail_option('p_result.action', p_result -> 'action',
            'Give ack, retry, reject or release.');
    end if;
    if p_result ? 'after' then
        v_after := core_private.parse_interval(p_result -> 'after', 'p_result.after', '0', '30 days');
    end if;
    if v_action = 'release' and v_after is null then
        perform core_private.fail_option('p_result.after', p_result -> 'after', 'Say when, such as "0 s".');
    end if;
    if p_result ? 'policy' then
        perform core_private.check_policy(p_result -> 'policy', 'p_result.policy');
    end if;
    -- A dead letter asks for the namespace. Whoever drops that has its row before he comes to the cursors.
    if v_action <> 'ack' then
        perform from core.namespaces n where n.namespace = v_namespace for key share;
    end if;
    select c.*
      into v_cursor
      from core_private.broadcast_cursors c
     where c.node_id = p_node_id and c.holder = p_holder and c.turn = p_turn and c.taken_id is not null
       for update;
    if not found then
        return query select 'lost'::text, null::timestamptz;
        return;
    end if;
    v_row := core_private.broadcast_in_hand(v_cursor);
    if v_action = 'ack' or v_row.broadcast_id is null then
        if v_action <> 'ack' then
            perform core_private.miss_broadcast(p_node_id, v_now);
        end if;
        perform core_private.pass_broadcast(v_cursor, true, v_now);
        return query select case v_action when 'ack' then 'done' else 'gone' end, null::timestamptz;
        return;
    end if;
    return query
        select s.outcome, s.due_at
          from core_private.settle_one_broadcast(
                   v_row, v_action, v_after, p_result -> 'policy', core_private.clean_text(p_result ->> 'reason'),
                   p_result ->> 'error', v_cursor.taken_at, v_now) s;
    perform core_private.pass_broadcast(v_cursor, false, v_now);
end $$;
comment on function core_node.settle_broadcast(text, uuid, bigint, jsonb) is 'For nodes: what became of the broadcast in hand: {action: ack, retry, reject or release, after, policy, reason, error}. Answers done, retried (and when it is due again), buried, released, gone (it was removed meanwhile, and is counted as missed) or lost (it is not the caller''s any more). Raises NX004, NX005, NX007, NX104, NX401, NX402.';
