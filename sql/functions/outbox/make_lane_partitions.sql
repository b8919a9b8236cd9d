-- Made first and attached then, which lets those who enqueue go on. What fell into the default partition is in nobody
-- else's range: the next one begins behind it. Whoever has picked the default one for an id and waits for the attaching
-- would find that the id is not for it any more, and fail: so the default one is locked first, which may have to wait,
-- and looked at what was drawn meanwhile. Where there is none ahead any more, the range also begins a partition's worth
-- beyond that. Two at once would make the same: all is read under the locks.
create or replace function core_private.make_lane_partitions(p_ahead integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_size  bigint := core_private.lane_partition_size();
    v_last  bigint;
    v_upper bigint;
    v_fell  bigint;
    v_made  integer := 0;
    v_name  text;
begin
    perform from core_private.locks l where l.name = 'lanes' for update;
    v_last := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_upper := coalesce((select max(p.upper) from core_private.lane_partitions p), 0);
    if v_upper >= v_last + p_ahead * v_size then
        return 0;
    end if;
    lock table core_private.lane_messages_default in access exclusive mode;
    v_last := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_fell := (select max(m.id) from core_private.lane_messages_default m);
    if v_last > 0 and v_upper < v_last + v_size then
        v_upper := (v_last / v_size + 2) * v_size;
    end if;
    if v_fell >= v_upper then
        v_upper := (v_fell / v_size + 2) * v_size;
    end if;
    while v_upper < v_last + p_ahead * v_size loop
        v_name := 'lane_messages_p' || v_upper;
        execute format('create table core_private.%I (like core_private.lane_messages including all)', v_name);
        execute format('comment on table core_private.%I is %L', v_name,
                       'Messages of core_private.lane_messages from this id on.');
        execute format(
            'alter table core_private.lane_messages attach partition core_private.%I for values from (%L) to (%L)',
            v_name, v_upper, v_upper + v_size);
        insert into core_private.lane_partitions (relation, upper) values (v_name, v_upper + v_size);
        v_upper := v_upper + v_size;
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;
comment on function core_private.make_lane_partitions(integer) is 'Makes partitions for so many times as many messages as fit into one beyond the last that was enqueued.';
