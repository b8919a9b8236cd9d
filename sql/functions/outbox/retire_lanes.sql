-- Nobody can enqueue to them any more once the transactions have ended that were alive when it was first seen that they
-- had been cut anew. What these left is seen by the look that follows.
create or replace function core_private.retire_lanes()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_retired integer := 0;
    v_awaited text[];
    r         record;
begin
    for r in
        select c.consumer_id, c.generation, c.awaited
          from core_private.lane_cuts c
         order by c.consumer_id, c.generation
           for update of c skip locked
    loop
        v_awaited := core_private.alive_transactions();
        if r.awaited is not null then
            v_awaited := array(select unnest(r.awaited) intersect select unnest(v_awaited));
        end if;
        if v_awaited <> '{}' or core_private.lanes_wait(r.consumer_id, r.generation + 1) then
            update core_private.lane_cuts c
               set awaited = v_awaited
             where c.consumer_id = r.consumer_id and c.generation = r.generation
               and c.awaited is distinct from v_awaited;
            continue;
        end if;
        delete from core_private.consumer_lanes l where l.consumer_id = r.consumer_id and l.generation <= r.generation;
        delete from core_private.lane_cuts c where c.consumer_id = r.consumer_id and c.generation = r.generation;
        v_retired := v_retired + 1;
    end loop;
    return v_retired;
end $$;
comment on function core_private.retire_lanes() is 'Removes lanes that were cut anew and have ended; returns how often.';
