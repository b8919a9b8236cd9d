create or replace function core_private.lane_named(p_namespace text, p_queue text, p_lane integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue record;
    v_id    integer;
begin
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue);
    select l.lane_id
      into v_id
      from core_private.consumer_lanes l
     where l.consumer_id = v_queue.consumer_id and l.generation = v_queue.generation and l.lane = p_lane;
    if v_id is null then
        raise exception using errcode = 'NX115', column = 'p_lane',
            message = format('outbox queue %s has no lane %s', quote_literal(p_queue), coalesce(p_lane::text, 'NULL')),
            hint = format('Its lanes are 0 to %s.', v_queue.lanes - 1);
    end if;
    return v_id;
end $$;
comment on function core_private.lane_named(text, text, integer) is 'The number of a lane in this database. Raises NX115.';
