create or replace function core_private.open_generation(p_consumer_id integer, p_latest integer)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from core_private.lane_cuts c where c.consumer_id = p_consumer_id) then
        return p_latest;
    end if;
    return (select max(g.generation)
              from (select distinct l.generation
                      from core_private.consumer_lanes l
                     where l.consumer_id = p_consumer_id
                    offset 0) g -- without it each lane would be asked, and not each generation
             where not core_private.lanes_wait(p_consumer_id, g.generation));
end $$;
comment on function core_private.open_generation(integer, integer) is 'The latest of a consumer''s generations of lanes that need not wait for those of before.';
