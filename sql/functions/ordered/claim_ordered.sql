-- One message of each lane, so that what comes behind it waits without anybody's doing. As in core_node.fetch_lane: the
-- last id is looked at first, then the transaction gets an id of its own by the locks, then it takes the snapshot.
--
-- A lane whose next event has no handler here is left as it is, for a node that has one.
create or replace function core_node.claim_ordered(
    p_namespace text, p_consumer text, p_node text, p_types text[], p_max_attempts integer[], p_limit integer,
    p_lease interval)
returns table (
    outcome text, lane_id integer, lane integer, token uuid, seq bigint, message_id bigint, message text, headers jsonb,
    attempt integer, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_consumer core.consumers;
    v_owner    core_private.lane_owner;
    v_floor    bigint;
    v_next     xid8;
    v_shot     pg_snapshot;
    v_top      bigint;
    v_now      timestamptz;
    v_ids      integer[];
    v_locked   core_private.lanes[] := '{}';
    v_before   core_private.lanes;
    v_lane     core_private.lanes;
    v_head     core_private.lane_messages;
    v_took     record;
    v_failed   record;
    v_taken    integer := 0;
    v_bytes    bigint := 0;
    v_id       integer;
    v_max      integer;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    v_consumer := core_private.ordered_named(p_namespace, p_consumer);
    perform core_private.check_claim(p_consumer, v_consumer.consumer_id, p_types, p_max_attempts, p_limit, 1);
    perform core_private.check_lease(p_lease);
    perform core_private.require_read_committed('core_node.claim_ordered');
    perform core_private.require_first('core_node.claim_ordered');

    v_now := core_private.now();
    v_floor := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_ids := array(
        select w.lane_id
          from core_private.lanes_with_work(
                   v_consumer.consumer_id, v_consumer.generation, false,
                   core_private.lanes_to_ask(v_consumer.consumer_id, v_consumer.generation, v_consumer.lanes)) w
         where w.next_at <= v_now
         order by w.next_at, random());
    foreach v_id in array v_ids loop
        select *
          into v_lane
          from core_private.lanes l
         where l.lane_id = v_id
         order by l.ver desc
         limit 1
           for no key update skip locked;
        if found then
            v_locked := v_locked || v_lane;
        end if;
        -- Some may have nothing for this node.
        exit when cardinality(v_locked) >= 2 * p_limit + 20;
    end loop;
    if cardinality(v_locked) = 0 then
        return;
    end if;
    v_next := pg_current_xact_id();
    v_shot := pg_current_snapshot();
    v_top := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    foreach v_lane in array v_locked loop
        continue when v_lane.token is not null and v_lane.locked_until > v_now
                      or v_lane.state <> 'active' or v_lane.next_at > v_now;
        exit when v_taken >= p_limit or v_bytes > core_private.bytes_at_once();
        v_before := v_lane;
        select * into v_owner from core_private.lane_owner(v_lane.lane_id, 'consume');
        continue when v_owner.namespace is null or not v_owner.active;
        if core_private.of_another_server(v_lane, core_private.cluster_id()) then
            perform core_private.fail_foreign_lane(p_consumer);
        end if;
        select *
          into v_took
          from core_private.take_head(v_lane, v_owner, v_floor, v_next, v_shot, v_top);
        v_lane := v_took.lane;
        v_head := v_took.message;
        if v_head.id is not null then
            select coalesce(nullif(u.m, 0), v_owner.max_attempts)
              into v_max
              from unnest(p_types, p_max_attempts) with ordinality u(t, m, n)
             where core_private.matches(u.t, v_head.body_type)
             order by u.m = 0, u.n
             limit 1;
            if not found then
                v_head := null;
            else
                v_owner.max_attempts := v_max;
            end if;
        end if;
        if v_head.id is not null and v_lane.handed > 0 then
            select *
              into v_failed
              from core_private.fail_head(
                       v_lane, v_owner, 0, 1, 'lease ended',
                       format('node %s did not settle it before its lease ended', v_lane.locked_by), null,
                       v_lane.locked_by);
            v_lane := v_failed.lane;
            if v_failed.outcome = 'dead' then
                outcome := 'buried';
                return next;
            else
                perform core_private.note_lane_failure(v_lane, v_owner, v_head, 'lease ended', v_lane.locked_by);
            end if;
            v_head := null;
            v_lane.handed := 0;
        end if;
        if v_head.id is not null then
            v_lane.token := gen_random_uuid();
            v_lane.locked_by := left(p_node, 200);
            v_lane.locked_until := v_now + p_lease;
            v_lane.handed := 1;
            v_taken := v_taken + 1;
            v_bytes := v_bytes + octet_length(v_head.body);
            outcome := 'claimed';
            lane_id := v_lane.lane_id;
            lane := v_owner.lane;
            token := v_lane.token;
            seq := v_lane.seq;
            message_id := v_head.id;
            message := convert_from(v_head.body, 'UTF8');
            headers := v_head.headers;
            attempt := v_lane.attempts + 1;
            due_at := nullif(v_lane.next_at, '-infinity');
            return next;
        else
            v_lane.token := null;
            v_lane.locked_until := null;
        end if;
        if v_lane::text <> v_before::text then
            perform core_private.store_lane(v_lane);
        end if;
    end loop;
    if cardinality(v_ids) > cardinality(v_locked) or v_taken >= p_limit then
        outcome := 'more';
        return next;
    end if;
end $$;
comment on function core_node.claim_ordered(text, text, text, text[], integer[], integer, interval) is 'For nodes: takes up to p_limit lanes of an ordered consumer, each with its next event, which is the node''s for p_lease: a row each, claimed, with what settles it (lane_id, token, seq, message_id). Of an event whose types p_types do not match the lane is left. p_max_attempts has a number for each of these: 0 for the consumer''s, -1 for never. Also a row for each event that was given up since the node that had it died (buried), and one if there may be more (more). Must be the first to write in its transaction. Raises 55000, NX006, NX101, NX103, NX224, NX401, NX402, NX509.';
