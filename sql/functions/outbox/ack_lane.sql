create or replace function core_private.ack_lane(p_lane core_private.lanes, p_done integer, p_last_id bigint)
returns core_private.lanes
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_done is null or p_done = 0 then
        return p_lane;
    end if;
    if p_done not between 1 and p_lane.handed or p_last_id is null or p_last_id <= p_lane.pos then
        raise exception using errcode = 'NX006', column = 'p_done',
            message = format('%s messages up to %s cannot have been done: %s were given out behind %s',
                p_done, coalesce(p_last_id::text, 'NULL'), p_lane.handed, p_lane.pos),
            hint = 'Give how many of the messages that were given out were done, and the id of the last of them.';
    end if;
    p_lane.seq := p_lane.seq + p_done;
    p_lane.pos := p_last_id;
    p_lane.handed := p_lane.handed - p_done;
    p_lane.attempts := 0;
    if p_lane.seq >= p_lane.suspect_until then
        p_lane.last_error := null;
        p_lane.blocked_since := null;
    end if;
    return p_lane;
end $$;
comment on function core_private.ack_lane(core_private.lanes, integer, bigint) is 'A lane of whose messages in hand the first p_done have been done. Raises NX006.';
