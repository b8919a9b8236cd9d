-- There were eight at the last look, or more: how many are left says how fast they are filled.
create or replace function core_private.lane_partitions_ahead()
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_size constant bigint := core_private.lane_partition_size();
    v_last constant bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_left constant bigint := coalesce((select max(p.upper) from core_private.lane_partitions p), 0) - v_last;
begin
    return case when v_last = 0 or v_left >= 5 * v_size then 8 when v_left > 0 then 16 else 32 end;
end $$;
comment on function core_private.lane_partitions_ahead() is 'How many partitions of messages of lanes there are to be beyond the last id that was drawn: 8, and up to 32 where several are filled between two looks.';
