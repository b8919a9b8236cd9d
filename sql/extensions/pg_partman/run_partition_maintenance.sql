-- Waits three seconds for a lock at most, and much less for one behind which emits would wait: readers of the log come
-- first, the next hour brings the next chance. The parent is locked before its default partition, in the order of those
-- who read it. Rows in the default partition are named before anything stumbles over them. Months are made and dropped
-- here and not left to pg_partman, which keeps its books afterwards: it fails on names that are not its own, hides that
-- a lock was not to be had, and does nothing, without a word, while somebody holds a lock that all may take.
create or replace function core_private.run_partition_maintenance()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set timezone = 'UTC'
set lock_timeout = '3s'
as $$
declare
    v_now     timestamptz := core_private.now();
    v_month   timestamptz := date_trunc('month', v_now);
    v_schema  text := core_private.partman_schema();
    v_driver  text := core_private.set_up_partitions();
    v_default bigint := core_private.rows_in_default();
    v_refused text;
    v_ahead   integer;
    v_missing text;
    v_wrong   text;
    v_held    text;
    v_wide    regclass[];
    v_did     integer := 0;
    v_fault   text;
begin
    lock table core.event_log in share update exclusive mode;
    if v_default = 0 then
        begin
            -- An empty partition of other bounds, where no event can be yet, makes room by itself; what has rows is for
            -- core.repair_partitions.
            v_wide := array(
                select p.relation
                  from core_private.log_partitions() p
                 where not p.is_month and p.from_time > v_now + interval '1 day'
                   and not exists (
                           select from core.event_log e
                            where e.emitted_at >= p.from_time and e.emitted_at < p.to_time));
            if v_wide <> '{}' then
                perform set_config('lock_timeout', '50ms', true);
                perform core_private.drop_partition(w) from unnest(v_wide) w;
                perform set_config('lock_timeout', '3s', true);
                v_did := cardinality(v_wide);
            end if;
        exception when lock_not_available then
            null; -- those who read come first; it is named below
        end;
        v_did := v_did + core_private.create_months();
        begin
            v_did := v_did + core_private.drop_old_months();
        exception when lock_not_available then
            if v_did = 0 then
                raise;
            end if;
            v_held := sqlstate || ' ' || sqlerrm; -- to raise is to undo; the next run raises
        end;
    end if;
    -- pg_partman would wait for the lock that was not to be had.
    if v_default = 0 and v_held is null and v_schema is not null then
        begin
            execute format('select %I.run_maintenance(p_parent_table := $1, p_analyze := false, p_jobmon := false)',
                           v_schema)
              using 'core.event_log';
            perform core_private.comment_partitions();
        exception when others then
            v_refused := sqlstate || ' ' || sqlerrm;
        end;
    end if;
    select string_agg(to_char(m.begins, 'YYYY-MM'), ', ' order by m.begins) filter (where p.from_time is null)
      into v_missing
      from generate_series(v_month, v_month + interval '6 months', interval '1 month') m (begins)
      left join core_private.log_partitions() p on p.from_time = m.begins and p.is_month;
    select count(*) filter (where p.is_month and p.from_time > v_now),
           string_agg(format('%s from %s to %s', p.partition_name, p.from_time, p.to_time), ', ' order by p.from_time)
               filter (where not p.is_month)
      into v_ahead, v_wrong
      from core_private.log_partitions() p
     where not p.is_default;
    if v_default > 0 or v_missing is not null or v_wrong is not null then
        v_fault := format('partitions of core.event_log: %s rows in the default partition', v_default)
                   || coalesce('; missing: ' || v_missing, '') || coalesce('; not a month: ' || v_wrong, '');
        -- To raise is to undo. A run that did something says so in its result, and the next one raises.
        if v_did = 0 then
            raise exception using errcode = 'object_not_in_prerequisite_state',
                message = v_fault,
                hint = 'select core.repair_partitions();';
        end if;
    end if;
    return jsonb_strip_nulls(jsonb_build_object(
        'driver', v_driver,
        'months_ahead', v_ahead,
        'rows_in_default', v_default,
        'fault', coalesce(v_fault, v_held),
        'pg_partman', v_refused));
end $$;
comment on function core_private.run_partition_maintenance() is 'What core.maintain_partitions does. It leaves the search_path of the session set.';
