-- A new lane has seen nothing: there is nothing under its number yet.
create or replace function core_private.cut_lanes(p_consumer_id integer, p_generation integer, p_lanes integer)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    with made as (
        insert into core_private.consumer_lanes (consumer_id, generation, lane)
        select p_consumer_id, p_generation, g from generate_series(0, p_lanes - 1) g
        returning lane_id)
    insert into core_private.lanes (lane_id, ver, cluster, done, done_floor, done_next, done_top)
    select m.lane_id, 0, core_private.cluster_id(), '1:1:', 0, '1', 0
      from made m
     order by m.lane_id;
    insert into core_private.strict_lanes (lane_id)
    select l.lane_id
      from core_private.consumer_lanes l
      join core_private.outbox_queues q on q.consumer_id = l.consumer_id and q.strict
     where l.consumer_id = p_consumer_id and l.generation = p_generation;
    update core_private.outbox_queues q
       set lane_ids = array(select l.lane_id
                              from core_private.consumer_lanes l
                             where l.consumer_id = p_consumer_id and l.generation = p_generation
                             order by l.lane)
     where q.consumer_id = p_consumer_id;
end $$;
comment on function core_private.cut_lanes(integer, integer, integer) is 'Makes the lanes of a consumer.';
