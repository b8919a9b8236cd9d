-- Whoever enqueued to lanes of before is ahead. What was committed there when a snapshot was taken is found by this
-- look, which is later: so of two messages of a key, the second of which was enqueued when the first had been
-- committed, the first ends before the second is handed out.
create or replace function core_private.lanes_wait(p_consumer_id integer, p_generation integer)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
    if not exists (
           select
             from core_private.lane_cuts c
            where c.consumer_id = p_consumer_id and c.generation < p_generation) then
        return false;
    end if;
    return exists (
               select from core_private.backfills b where b.consumer_id = p_consumer_id and b.state <> 'done')
        or exists (
               select
                 from core_private.consumer_lanes l
                cross join lateral core_private.lane_now(l.lane_id) n
                where l.consumer_id = p_consumer_id and l.generation < p_generation
                  and (core_private.of_another_server(n, core_private.cluster_id())
                       or exists (select from core_private.pending_in_lane(n, 1))));
end $$;
comment on function core_private.lanes_wait(integer, integer) is 'Whether lanes of this generation have to wait for those of before, or for the log.';
