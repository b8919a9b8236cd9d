-- Waits three seconds for a lock at most: readers of the log come first, the next hour brings the next chance. The parent is locked
-- before its default partition, in the order of those who read it. Rows in the default partition are named before pg_partman stumbles
-- over them, and afterwards it looks whether what it promises is there.
create or replace function core_private.run_partition_maintenance()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set lock_timeout = '3s'
as $$
declare
    v_now     timestamptz := core_private.now();
    v_schema  text := core_private.partman_schema();
    v_driver  text := core_private.set_up_partitions();
    v_default bigint := core_private.rows_in_default();
    v_ahead   integer;
    v_old     text;
begin
    lock table core.event_log in share update exclusive mode;
    if v_default = 0 and v_schema is not null then
        execute format('select %I.run_maintenance(p_parent_table := $1, p_analyze := false, p_jobmon := false)', v_schema) using 'core.event_log';
    elsif v_default = 0 then
        for v_old in select p.partition_name from core.partitions p where p.to_time < v_now - interval '6 months' loop
            execute format('drop table core.%I', v_old);
        end loop;
    end if;
    select count(*)::integer into v_ahead from core.partitions p where p.from_time > v_now;
    if v_default > 0 or v_ahead < 6 then
        raise exception using errcode = 'object_not_in_prerequisite_state',
            message = format('partitions of core.event_log: %s months ahead, %s rows in the default partition', v_ahead, v_default),
            hint = 'select core.repair_partitions();';
    end if;
    return jsonb_build_object('driver', v_driver, 'months_ahead', v_ahead, 'rows_in_default', v_default);
end $$;
comment on function core_private.run_partition_maintenance() is 'What core.maintain_partitions does. It leaves the search_path of the session set.';
