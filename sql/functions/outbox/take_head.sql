-- The end of core_node.fetch_lane for one message. What p_shot sees is looked at, and no further snapshot after it.
create or replace function core_private.take_head(
    p_lane core_private.lanes, p_owner core_private.lane_owner, p_floor bigint, p_next xid8, p_shot pg_snapshot,
    p_top bigint, out lane core_private.lanes, out message core_private.lane_messages)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id    bigint;
    v_fresh boolean := false; -- whether what is in hand is p_shot
begin
    lane := p_lane;
    loop
        if lane.cur is null then
            exit when core_private.lanes_wait(p_owner.consumer_id, p_owner.generation);
            lane.cur := p_shot;
            lane.cur_floor := p_floor;
            lane.cur_next := p_next;
            lane.cur_top := p_top;
            lane.pos := 0;
            v_fresh := true;
        end if;
        select r.id into v_id from core_private.read_lane(lane, 1) r;
        if v_id is not null then
            select m.* into message from core_private.lane_messages m where m.lane_id = lane.lane_id and m.id = v_id;
            return;
        end if;
        lane.done := lane.cur;
        lane.done_floor := lane.cur_floor;
        lane.done_next := lane.cur_next;
        lane.done_top := lane.cur_top;
        lane.cur := null;
        lane.cur_floor := null;
        lane.cur_next := null;
        lane.cur_top := null;
        lane.pos := 0;
        exit when v_fresh;
    end loop;
end $$;
comment on function core_private.take_head(core_private.lanes, core_private.lane_owner, bigint, xid8, pg_snapshot, bigint) is 'A lane with its next message, which is NULL if it has none.';
