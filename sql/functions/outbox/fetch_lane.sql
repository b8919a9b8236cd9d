-- The order of the steps is what the reading of lanes rests on. The last id that was drawn is looked at first, then
-- the transaction gets an id of its own, then it takes the snapshot: so whoever had drawn one of these ids is an older
-- transaction, and each message is either seen by the snapshot or known to be late. After the snapshot comes the last
-- id once more, since it sees none beyond. This is why it must be the first in its transaction.
--
-- A holder who is late is overtaken here: what he had in hand has failed.
create or replace function core_node.fetch_lane(
    p_lane_id integer, p_node text, p_limit integer, p_lease interval,
    p_token uuid = null, p_from bigint = null, p_done integer = 0, p_last_id bigint = null, p_next uuid = null)
returns table (
    token uuid, seq bigint, message_id bigint, key text, body bytea, body_type text, created_at timestamptz,
    attempt integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_owner  core_private.lane_owner;
    v_floor  bigint;
    v_next   xid8;
    v_shot   pg_snapshot;
    v_top    bigint;
    v_now    timestamptz;
    v_before core_private.lanes;
    v_lane   core_private.lanes;
    v_limit  integer;
    v_token  uuid := coalesce(p_next, gen_random_uuid());
begin
    v_owner := core_private.lane_owner(p_lane_id, 'consume');
    -- What passes takes one expression.
    if (p_limit between 1 and 10000 and p_lease > interval '0' and p_lease <= interval '1 day'
        and current_setting('transaction_isolation') = 'read committed'
        and pg_current_xact_id_if_assigned() is null) is not true then
        perform core_private.check_number(p_limit, 'p_limit', 1, 10000);
        perform core_private.check_lease(p_lease);
        perform core_private.require_read_committed('core_node.fetch_lane');
        perform core_private.require_first('core_node.fetch_lane');
    end if;

    v_floor := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    select *
      into v_before
      from core_private.lanes l
     where l.lane_id = p_lane_id
     order by l.ver desc
     limit 1
       for no key update;
    v_next := pg_current_xact_id();
    v_shot := pg_current_snapshot();
    v_top := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_now := core_private.now();
    v_lane := v_before;
    if core_private.of_another_server(v_lane, core_private.cluster_id()) then
        perform core_private.fail_foreign_lane(v_owner.queue_name);
    end if;
    if p_token is not null then
        perform core_private.require_lane_held(v_lane, p_token, p_from, v_now);
        v_lane := core_private.ack_lane(v_lane, p_done, p_last_id);
    elsif v_lane.token is not null and v_lane.locked_until > v_now then
        return;
    elsif v_lane.handed > 0 then
        v_lane := (core_private.fail_head(
            v_lane, v_owner, 0, v_lane.handed, 'lease ended',
            format('node %s did not settle it before its lease ended', v_lane.locked_by), null, v_lane.locked_by)).lane;
    end if;
    v_lane.token := null;
    v_lane.locked_until := null;
    v_lane.handed := 0;

    if v_owner.active and v_lane.state = 'active' and v_lane.next_at <= v_now then
        v_limit := case
            when v_lane.attempts > 0 then 1
            when v_lane.safe_until > v_lane.seq then least(p_limit, v_lane.safe_until - v_lane.seq)
            when v_lane.suspect_until > v_lane.seq
            then least(p_limit, greatest(1, (v_lane.suspect_until - v_lane.seq) / 2))
            else p_limit end;
        loop
            if v_lane.cur is null then
                exit when core_private.lanes_wait(v_owner.consumer_id, v_owner.generation);
                v_lane.cur := v_shot;
                v_lane.cur_floor := v_floor;
                v_lane.cur_next := v_next;
                v_lane.cur_top := v_top;
                v_lane.pos := 0;
            end if;
            return query
                select v_token, v_lane.seq + r.n, r.id, r.key, r.body, r.body_type, r.created_at,
                       case when r.n = 1 then v_lane.attempts else 0 end + 1
                  from (select m.*, row_number() over w as n, sum(octet_length(m.body)) over w as bytes
                          from core_private.read_lane(v_lane, v_limit) m
                        window w as (rows unbounded preceding)) r
                 where r.n = 1 or r.bytes <= core_private.bytes_at_once();
            get diagnostics v_lane.handed = row_count;
            if v_lane.handed > 0 then
                v_lane.token := v_token;
                v_lane.locked_by := left(p_node, 200);
                v_lane.locked_until := v_now + p_lease;
                exit;
            end if;
            v_lane.locked_until := v_now; -- somebody was here: see unworked_before
            v_lane.done := v_lane.cur;
            v_lane.done_floor := v_lane.cur_floor;
            v_lane.done_next := v_lane.cur_next;
            v_lane.done_top := v_lane.cur_top;
            v_lane.cur := null;
            v_lane.cur_floor := null;
            v_lane.cur_next := null;
            v_lane.cur_top := null;
            v_lane.pos := 0;
            exit when v_lane.done_next = v_next;
        end loop;
    end if;
    if p_token is not null or v_lane.handed > 0 or v_lane::text <> v_before::text then
        perform core_private.store_lane(v_lane);
    end if;
end $$;
comment on function core_node.fetch_lane(integer, text, integer, interval, uuid, bigint, integer, bigint, uuid) is 'For nodes: takes a lane, if nobody holds it, and returns the next messages of it, up to p_limit and 32 MB, which are the node''s for p_lease; nothing if there are none or they are not due, and then the lane is free. Whoever holds it gives his p_token, the number p_from of the last message that had ended when he got his, and how many of his p_done have been done, with the id of the last of them: they have ended then, and the next ones come. p_next is the token that he is to have from then on, by which core_node.give_back_lanes gives the lane back if the answer was lost; one is made if it is NULL. Must be the first to write in its transaction. Raises 55000, NX006, NX115, NX224, NX301, NX401, NX402, NX509.';
