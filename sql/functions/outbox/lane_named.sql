-- While lanes are being cut anew the one of before is meant: it is what keeps the others.
create or replace function core_private.lane_named(p_namespace text, p_queue text, p_lane integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue record;
    v_id    integer;
begin
    select * into v_queue from core_private.lanes_named(p_namespace, p_queue);
    select l.lane_id
      into v_id
      from core_private.consumer_lanes l
     where l.consumer_id = v_queue.consumer_id and l.lane = p_lane
     order by l.generation
     limit 1;
    if v_id is null then
        raise exception using errcode = 'NX115', column = 'p_lane',
            message = format('%s %s has no lane %s',
                case when v_queue.events then 'consumer' else 'outbox queue' end, quote_literal(p_queue),
                coalesce(p_lane::text, 'NULL')),
            hint = format('Its lanes are 0 to %s.', v_queue.lanes - 1);
    end if;
    return v_id;
end $$;
comment on function core_private.lane_named(text, text, integer) is 'The number of a lane in this database. Raises NX115.';
