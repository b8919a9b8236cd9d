-- What comes from the log is in lanes of its own, which the others wait for: so it comes before whatever is emitted
-- from now on.
create or replace function core_private.cut_for_consumer(p_consumer_id integer, p_lanes integer, p_from_log boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into core_private.outbox_queues (consumer_id, strict, profile, max_body_bytes)
    values (p_consumer_id, false, 'default', 104857600);
    perform core_private.cut_lanes(p_consumer_id, 1, p_lanes);
    if p_from_log then
        insert into core_private.lane_cuts (consumer_id, generation, awaited) values (p_consumer_id, 1, '{}');
        update core.consumers c set generation = 2 where c.consumer_id = p_consumer_id;
        perform core_private.cut_lanes(p_consumer_id, 2, p_lanes);
    end if;
    perform core_private.make_lane_partitions(2);
end $$;
comment on function core_private.cut_for_consumer(integer, integer, boolean) is 'Makes the lanes of a new ordered consumer.';
