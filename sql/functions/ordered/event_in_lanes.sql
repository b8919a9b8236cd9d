-- Found by what it says, since a lane knows no event: so no further than p_limit messages into each lane.
create or replace function core_private.event_in_lanes(
    p_consumer_id integer, p_event_id bigint, p_event_type text, p_limit bigint,
    out state text, out msg_id bigint, out attempt integer, out due_at timestamptz, out sure boolean)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now    timestamptz := core_private.now();
    v_limit  integer := least(p_limit, 2147483647);
    v_lane   core_private.lanes;
    v_looked bigint;
    v_first  bigint;
    r        record;
begin
    sure := true;
    for r in
        select l.lane_id
          from core_private.consumer_lanes l
         where l.consumer_id = p_consumer_id
         order by l.generation, l.lane
    loop
        v_lane := core_private.lane_now(r.lane_id);
        select count(*), min(p.id),
               min(p.id) filter (
                   where p.body_type = p_event_type
                     and exists (
                         select
                           from core_private.lane_messages m
                          where m.lane_id = r.lane_id and m.id = p.id
                            and convert_from(m.body, 'UTF8')::jsonb ->> 'eventId' = p_event_id::text))
          into v_looked, v_first, msg_id
          from core_private.pending_in_lane(v_lane, v_limit) p;
        sure := sure and v_looked < v_limit is not false;
        if msg_id is not null then
            attempt := case when msg_id = v_first then v_lane.attempts else 0 end;
            due_at := case when msg_id = v_first then nullif(v_lane.next_at, '-infinity') end;
            state := case when msg_id <> v_first or v_lane.state <> 'active' then 'waiting'
                          when v_lane.locked_until > v_now then 'in_flight'
                          when v_lane.next_at > v_now then 'waiting'
                          else 'visible' end;
            return;
        end if;
    end loop;
end $$;
comment on function core_private.event_in_lanes(integer, bigint, text, bigint) is 'Where an event is in the lanes of an ordered consumer. state is NULL where it is none of the first p_limit of each; sure: nor of the others.';
