-- p_search_path: see maintain_partitions. Rows move through a table of its own: while they stand in the default
-- partition, or in one that has other bounds than a month's, none can be attached for their time. They are read through
-- the log, of which the owner of a partition cannot keep them.
create or replace function core.repair_partitions(p_search_path text = current_setting('search_path'))
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set lock_timeout = '10s'
as $$
declare
    v_moved bigint := 0;
    v_from  timestamptz;
    v_bad   record;
begin
    perform core_private.require_read_committed('core.repair_partitions');
    perform core_private.set_up_partitions();
    perform core_private.own_partitions();
    if core_private.rows_in_default() > 0
       or exists (select from core_private.log_partitions() p where not p.is_month and not p.is_default) then
        lock table core.event_log in access exclusive mode;
        execute 'create unlogged table core_private.moved_events (like core.event_log)';
        for v_bad in
            select p.relation, p.from_time, p.to_time, p.is_default
              from core_private.log_partitions() p
             where not p.is_month
        loop
            if not v_bad.is_default then
                execute $q$
                    insert into core_private.moved_events
                    select * from core.event_log where emitted_at >= $1 and emitted_at < $2 $q$
                  using v_bad.from_time, v_bad.to_time;
                perform core_private.drop_partition(v_bad.relation);
            elsif has_table_privilege(v_bad.relation, 'select, truncate') then
                execute format('insert into core_private.moved_events select * from %s', v_bad.relation);
                execute format('truncate %s', v_bad.relation);
            else
                execute $q$
                    insert into core_private.moved_events
                    select * from core.event_log where tableoid = $1 $q$
                  using v_bad.relation::oid;
                perform core_private.drop_partition(v_bad.relation);
                perform core_private.set_up_partitions();
            end if;
        end loop;
        for v_from in
            execute $q$
                select m.begins
                  from (select distinct date_trunc('month', r.emitted_at) as begins
                          from core_private.moved_events r) m
                 where not exists (
                           select from core_private.log_partitions() p
                            where p.from_time <= m.begins and p.to_time > m.begins)
                 order by m.begins $q$
        loop
            perform core_private.create_month(v_from);
        end loop;
        execute 'insert into core.event_log select * from core_private.moved_events';
        get diagnostics v_moved = row_count;
        execute 'drop table core_private.moved_events';
    end if;
    perform core_private.run_partition_maintenance();
    perform set_config('search_path', p_search_path, false);
    return v_moved;
end $$;
comment on function core.repair_partitions(text) is 'Moves rows out of the default partition, and out of partitions with other bounds than a month''s, into months of their own, takes partitions back from other roles where it may, and catches up with maintenance; returns how many rows. Locks the log while it runs.';
