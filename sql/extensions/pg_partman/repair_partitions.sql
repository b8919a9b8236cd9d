-- p_search_path: see maintain_partitions. Moves through a table of its own: while rows stand in the default partition, none can be attached for their time.
create or replace function core.repair_partitions(p_search_path text = current_setting('search_path'))
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set lock_timeout = '10s'
as $$
declare
    v_moved bigint;
    v_from  timestamptz;
    v_major integer := (select split_part(e.extversion, '.', 1)::integer from pg_extension e where e.extname = 'pg_partman');
    v_name  text;
begin
    perform core_private.set_up_partitions();
    if core_private.rows_in_default() > 0 then
        lock table core.event_log in access exclusive mode;
        execute 'create temporary table nexus_repair on commit drop as select * from core.event_log_default';
        execute 'delete from core.event_log_default';
        for v_from in execute 'select distinct date_trunc(''month'', r.emitted_at) from pg_temp.nexus_repair r order by 1' loop
            continue when exists (select from core.partitions p where p.from_time <= v_from and p.to_time > v_from);
            v_name := 'event_log_p' || to_char(v_from, case when coalesce(v_major, 5) < 5 then 'YYYY_MM' else 'YYYYMMDD' end);
            execute format('create table core.%I partition of core.event_log for values from (%L) to (%L)', v_name, v_from, v_from + interval '1 month');
        end loop;
        execute 'insert into core.event_log select * from pg_temp.nexus_repair';
        get diagnostics v_moved = row_count;
        execute 'drop table pg_temp.nexus_repair';
    end if;
    perform core_private.run_partition_maintenance();
    v_moved := coalesce(v_moved, 0);
    perform set_config('search_path', p_search_path, false);
    return v_moved;
end $$;
comment on function core.repair_partitions(text) is 'Moves rows out of the default partition into months of their own, and catches up with maintenance; returns how many rows. Locks the log while it runs.';
