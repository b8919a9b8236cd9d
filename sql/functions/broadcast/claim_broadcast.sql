-- One at a time: what the node has in hand is noted before its handlers run, so that a process which dies at it is
-- found out by its successor, and the attempt counts. The cursor itself moves with the handlers' transaction.
--
-- A look that finds nothing writes nothing.
create or replace function core_node.claim_broadcast(
    p_node_id text, p_incarnation uuid, p_holder uuid, p_types text[], p_max_attempts integer[])
returns table (
    outcome text, broadcast_id bigint, turn bigint, message jsonb, headers jsonb, attempt integer, deferrals integer,
    due_at timestamptz, max_attempts integer, detail text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now       timestamptz := core_private.now();
    v_snapshot  pg_snapshot := pg_current_snapshot();
    v_cluster   bigint := core_private.cluster_id();
    v_namespace text := core_private.incarnation_namespace(p_node_id, p_incarnation);
    v_default   integer;
    v_cursor    core_private.broadcast_cursors;
    v_target    pg_snapshot;
    v_top       bigint := coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0);
    v_foreign   boolean := false;
    v_again     core_private.broadcast_deliveries;
    v_next      core.broadcasts;
    v_outcome   text;
begin
    if p_holder is null then
        raise exception using errcode = 'NX006', column = 'p_holder',
            message = 'p_holder cannot be NULL',
            hint = 'Give a uuid that the process makes once.';
    end if;
    if cardinality(p_types) is distinct from cardinality(p_max_attempts) or cardinality(p_types) is null then
        raise exception using errcode = 'NX006', column = 'p_max_attempts',
            message = 'p_max_attempts is not as long as p_types',
            hint = 'Give one number for each pattern: 0 for the namespace''s, -1 for never.';
    end if;
    select c.* into v_cursor from core_private.broadcast_cursors c where c.node_id = p_node_id;
    if v_namespace is null or not found then
        perform core_private.fail_unread(p_node_id);
    end if;
    if v_cursor.holder = p_holder and v_cursor.taken_id is null and v_cursor.cluster = v_cluster
       and not exists (
           select
             from core_private.broadcast_deliveries d
            where d.node_id = p_node_id and d.due_at <= v_now
              and exists (select from unnest(p_types) p where core_private.matches(p, d.event_type)))
       and v_cursor.target is null
       and (core_private.next_broadcast(
                v_namespace, v_cluster, v_cursor.seen, v_snapshot, '0', 0, v_cursor.judged, v_top)).broadcast_id is null
       and v_top <= v_cursor.top + 100 -- of all namespaces, which are looked at each time
       and not core_private.is_foreign_cursor(v_cursor, v_cluster, v_snapshot) then
        return;
    end if;

    -- What an earlier process died at may be buried, which asks for the namespace: its row comes before the cursor.
    if v_cursor.taken_id is not null and v_cursor.holder is distinct from p_holder then
        perform from core.namespaces n where n.namespace = v_namespace for key share;
    end if;
    -- Whoever had the row may have gone further than what was visible before the wait, or have ended this life of the
    -- node.
    select c.* into v_cursor from core_private.broadcast_cursors c where c.node_id = p_node_id for update;
    v_snapshot := pg_current_snapshot();
    v_top := coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0); -- no less than what that sees
    v_namespace := core_private.incarnation_namespace(p_node_id, p_incarnation);
    if v_namespace is null or v_cursor.node_id is null then
        perform core_private.fail_unread(p_node_id);
    end if;
    select core_private.max_attempts('{}', n.retry)
      into v_default
      from core.namespaces n
     where n.namespace = v_namespace;
    if v_cursor.taken_id is not null and v_cursor.holder is distinct from p_holder and v_cursor.cluster = v_cluster then
        v_again := core_private.broadcast_in_hand(v_cursor);
        if v_again.broadcast_id is not null then
            select s.outcome
              into v_outcome
              from core_private.settle_one_broadcast(
                       v_again, 'retry', null,
                       jsonb_build_object('max_attempts',
                           core_private.attempts_for(v_again.event_type, p_types, p_max_attempts, v_default)),
                       'process died', 'The process of the node ended while its handlers ran.',
                       v_cursor.taken_at, v_now) s;
            if v_outcome = 'buried' then
                return query
                    select 'buried'::text, v_again.broadcast_id, null::bigint, null::jsonb, null::jsonb, null::integer,
                           null::integer, null::timestamptz, null::integer, null::text;
            end if;
        else
            perform core_private.miss_broadcast(p_node_id, v_now);
        end if;
        perform core_private.pass_broadcast(v_cursor, false, v_now);
        select c.* into v_cursor from core_private.broadcast_cursors c where c.node_id = p_node_id;
    end if;
    -- One that is foreign comes to the end of what it is reading first, which is bounded by ids as well.
    if v_cursor.cluster <> v_cluster
       or v_cursor.target is null and core_private.is_foreign_cursor(v_cursor, v_cluster, v_snapshot) then
        v_cursor := core_private.reset_cursor(v_cursor, v_cluster, v_now);
        v_snapshot := v_cursor.seen;
        v_top := v_cursor.top;
        return query
            select 'reset'::text, null::bigint, null::bigint, null::jsonb, null::jsonb, null::integer, null::integer,
                   null::timestamptz, null::integer, v_cursor.reset_reason;
    end if;

    -- Whoever has something in hand already did not hear of it.
    v_again := null;
    if v_cursor.taken_id is not null then
        v_again := core_private.broadcast_in_hand(v_cursor);
        if v_again.broadcast_id is null then
            perform core_private.miss_broadcast(p_node_id, v_now);
            perform core_private.pass_broadcast(v_cursor, false, v_now);
            select c.* into v_cursor from core_private.broadcast_cursors c where c.node_id = p_node_id;
        end if;
    end if;
    if v_again.broadcast_id is null then
        v_cursor.taken_xid := null;
        select d.*
          into v_again
          from core_private.broadcast_deliveries d
         where d.node_id = p_node_id and d.due_at <= v_now
           and exists (select from unnest(p_types) p where core_private.matches(p, d.event_type))
         order by d.due_at, d.broadcast_id
         limit 1;
    end if;
    v_target := v_cursor.target;
    if v_again.broadcast_id is null then
        if v_target is not null then
            v_next := core_private.next_broadcast(
                v_namespace, v_cluster, v_cursor.seen, v_target, v_cursor.at_xid, v_cursor.at_id, v_cursor.judged,
                v_cursor.top, p_types);
            if v_next.broadcast_id is null then
                v_cursor.seen := v_target;
                v_cursor.target := null;
                v_foreign := core_private.is_foreign_cursor(v_cursor, v_cluster, v_snapshot);
            end if;
        end if;
        if v_foreign then
            v_target := v_cursor.seen; -- the next claim sets it anew
        elsif v_cursor.target is null then
            v_target := v_snapshot;
            v_cursor.top := v_top;
            v_next := core_private.next_broadcast(
                v_namespace, v_cluster, v_cursor.seen, v_target, '0', 0, v_cursor.judged, v_top, p_types);
        end if;
        if v_next.broadcast_id is null then
            v_cursor.seen := v_target;
            v_target := null;
            v_cursor.at_xid := '0';
            v_cursor.at_id := 0;
        else
            v_cursor.taken_xid := v_next.xid;
            v_again.node_id := p_node_id;
            v_again.broadcast_id := v_next.broadcast_id;
            v_again.message := v_next.message;
            v_again.headers := v_next.headers;
            v_again.event_type := v_next.event_type;
            v_again.due_at := v_next.emitted_at;
            v_again.failures := 0;
            v_again.deferrals := 0;
        end if;
    end if;
    update core_private.broadcast_cursors c
       set seen = v_cursor.seen, target = v_target, top = v_cursor.top,
           at_xid = v_cursor.at_xid, at_id = v_cursor.at_id, holder = p_holder,
           turn = c.turn + (v_again.broadcast_id is not null)::integer,
           taken_xid = v_cursor.taken_xid, taken_id = v_again.broadcast_id,
           taken_at = case when v_again.broadcast_id is not null then v_now end
     where c.node_id = p_node_id
    returning c.* into v_cursor;
    if v_again.broadcast_id is not null then
        return query
            select 'claimed'::text, v_again.broadcast_id, v_cursor.turn, v_again.message, v_again.headers,
                   v_again.failures + 1, v_again.deferrals, v_again.due_at,
                   core_private.attempts_for(v_again.event_type, p_types, p_max_attempts, v_default), null::text;
    end if;
end $$;
comment on function core_node.claim_broadcast(text, uuid, uuid, text[], integer[]) is 'For nodes: the next broadcast that the node has to handle, of the types given (patterns; p_max_attempts is parallel, -1 never, 0 or NULL the namespace''s), noted as in hand of the process p_holder. Of an earlier process what it had in hand is a failed attempt. One row claimed, or none; before it a row buried, if that was the last attempt, and a row reset where the cursor was set anew, since the database has come to another server or to a copy of one. Raises NX006, NX302, NX401, NX402.';
