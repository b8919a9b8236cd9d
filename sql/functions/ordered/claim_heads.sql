-- One message of each lane, so that what comes behind it waits without anybody's doing. As in core_node.fetch_lane: the
-- last id is looked at first, by the caller, then the transaction gets an id of its own, if it has none by then, and
-- then it takes the snapshot.
--
-- A transaction that may write messages itself (p_writes) is left out of its own snapshot, which would else see what it
-- writes later. Where it had an id before the look (p_floor is NULL) a lane's own floor does: whoever drew an id up to
-- that is older than the next id that the lane knows.
--
-- A lane whose next event has no handler here is left as it is, for a node that has one.
--
-- Handlers in SQL (p_sql) of one claim share a session, which one of them may end. So a lane that had company counts as
-- having two in hand: whose fault the end was is not known then, no attempt is used, and it comes again alone, as each
-- does that has failed. Those have their turn in every other claim or so, however many there are that have not. A lane
-- of another server is left, so that it does not end the turns of others.
create or replace function core_private.claim_heads(
    p_consumer core.consumers, p_node text, p_types text[], p_max_attempts integer[], p_limit integer,
    p_lease interval, p_floor bigint, p_sql boolean = false, p_writes boolean = false,
    p_token uuid = null)
returns table (
    outcome text, lane_id integer, lane integer, token uuid, seq bigint, message_id bigint, message text, headers jsonb,
    attempt integer, due_at timestamptz, until timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_owner    core_private.lane_owner;
    v_next     xid8;
    v_own      xid8;
    v_later    boolean := p_sql and random() < 0.5; -- those that had to wait for their time come first
    v_left     boolean := false;
    v_alone    boolean;
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
    v_now := core_private.now();
    v_ids := array(
        select w.lane_id
          from core_private.lanes_with_work(
                   p_consumer.consumer_id, p_consumer.generation, false,
                   core_private.lanes_to_ask(p_consumer.consumer_id, p_consumer.generation, p_consumer.lanes)) w
         where w.next_at <= v_now
         order by v_later and isfinite(w.next_at) desc, w.next_at, random());
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
    v_own := pg_current_xact_id();
    v_shot := pg_current_snapshot();
    v_next := v_own;
    if p_writes then
        v_shot := core_private.without_own(v_shot, v_own);
        v_next := (v_own::text::bigint + 1)::text::xid8;
    end if;
    v_top := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    foreach v_lane in array v_locked loop
        continue when v_lane.token is not null and v_lane.locked_until > v_now
                      or v_lane.state <> 'active' or v_lane.next_at > v_now;
        exit when v_taken >= p_limit or v_bytes > core_private.bytes_at_once();
        v_alone := p_sql and (v_lane.attempts > 0 or v_lane.suspect_until > v_lane.seq);
        if v_alone and v_taken > 0 then
            v_left := true;
            continue;
        end if;
        v_before := v_lane;
        select * into v_owner from core_private.lane_owner(v_lane.lane_id, 'consume');
        continue when v_owner.namespace is null or not v_owner.active;
        if core_private.of_another_server(v_lane, core_private.cluster_id()) then
            continue when p_sql;
            perform core_private.fail_foreign_lane(p_consumer.name);
        end if;
        select *
          into v_took
          from core_private.take_head(
                   v_lane, v_owner, coalesce(p_floor, v_lane.cur_floor, v_lane.done_floor),
                   case when p_floor is null then greatest(v_next, v_lane.cur_next, v_lane.done_next) else v_next end,
                   v_shot, v_top);
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
                       v_lane, v_owner, 0, v_lane.handed, 'lease ended',
                       format('node %s did not settle it before its lease ended', v_lane.locked_by), null,
                       v_lane.locked_by);
            v_lane := v_failed.lane;
            if v_failed.outcome = 'dead' then
                outcome := 'buried';
                return next;
            elsif v_failed.outcome = 'split' then
                v_lane.suspect_until := v_lane.seq + 1;
                v_lane.next_at := v_now;
            else
                perform core_private.note_lane_failure(v_lane, v_owner, v_head, 'lease ended', v_lane.locked_by);
            end if;
            v_head := null;
            v_lane.handed := 0;
        end if;
        if v_head.id is not null then
            v_lane.token := coalesce(p_token, gen_random_uuid());
            v_lane.locked_by := left(p_node, 200);
            v_lane.locked_until := v_now + p_lease;
            v_lane.handed := case when p_sql and not v_alone and cardinality(v_locked) > 1 then 2 else 1 end;
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
            until := v_lane.locked_until;
            return next;
        else
            v_lane.token := null;
            v_lane.locked_until := null;
        end if;
        if v_lane::text <> v_before::text then
            perform core_private.store_lane(v_lane);
        end if;
        exit when v_alone and v_lane.token is not null;
    end loop;
    if cardinality(v_ids) > cardinality(v_locked) or v_taken >= p_limit or v_left then
        outcome := 'more';
        return next;
    end if;
end $$;
comment on function core_private.claim_heads(core.consumers, text, text[], integer[], integer, interval, bigint, boolean, boolean, uuid) is 'What core_node.claim_ordered does, for who may. p_floor is the last id that was drawn before the transaction had an id of its own, NULL if that is not known; p_sql: for handlers in SQL; p_writes: the transaction may write messages of lanes as well; p_token: the token of all, NULL: each has its own. Raises NX401, NX402, NX509.';
