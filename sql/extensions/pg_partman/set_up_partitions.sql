-- One wrapper for 4.7 and 5.x, which differ in p_type only; boundaries are UTC whoever runs it. Where pg_partman is
-- missing, or refuses, months are made here, under the names it would take over later. Its row is put back to what
-- Nexus wants: above all, calls that maintain everybody's tables leave this one alone, for they would give its months
-- to their caller, with the bounds of his time zone.
create or replace function core_private.set_up_partitions()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set timezone = 'UTC'
as $$
declare
    v_schema text := core_private.partman_schema();
    v_major  integer;
    v_known  boolean;
    v_parts  boolean := exists (select from pg_inherits i where i.inhparent = 'core.event_log'::regclass);
    v_driver text := 'built in';
begin
    if v_schema is not null then
        select split_part(e.extversion, '.', 1)::integer
          into v_major
          from pg_extension e
         where e.extname = 'pg_partman';
        v_driver := format('pg_partman %s in %s', v_major, v_schema);
        begin
            execute format('select exists (select from %I.part_config where parent_table = $1)', v_schema)
               into v_known
              using 'core.event_log';
            if not v_known and not v_parts then
                execute format($q$
                    select %I.create_parent(
                        p_parent_table := $1, p_control := $2, p_type := $3, p_interval := $4, p_premake := $5,
                        p_automatic_maintenance := 'off', p_jobmon := false) $q$, v_schema)
                  using 'core.event_log', 'emitted_at', case when v_major >= 5 then 'range' else 'native' end,
                        '1 month', 7;
            elsif not v_known then
                -- A restored or formerly built-in set: create_parent refuses it, its row is enough.
                execute format($q$
                    insert into %I.part_config (
                        parent_table, control, partition_type, partition_interval, premake, datetime_string,
                        automatic_maintenance, jobmon)
                    values ($1, $2, $3, $4, $5, $6, 'off', false) $q$, v_schema)
                  using 'core.event_log', 'emitted_at', case when v_major >= 5 then 'range' else 'native' end,
                        '1 month', 7, core_private.partman_suffix();
            end if;
            execute format('delete from %I.part_config_sub where sub_parent = $1', v_schema) using 'core.event_log';
            execute format($q$
                update %I.part_config
                   set control = $2, partition_interval = $3, epoch = $4, premake = $5,
                       retention = $6, retention_schema = null, retention_keep_table = false,
                       infinite_time_partitions = true, automatic_maintenance = 'off',
                       undo_in_progress = false, inherit_privileges = false
                 where parent_table = $1
                   and (control, partition_interval::interval, epoch, premake,
                        retention::interval, retention_schema, retention_keep_table,
                        infinite_time_partitions, automatic_maintenance,
                        undo_in_progress, coalesce(inherit_privileges, false))
                       is distinct from
                       ($2, $3::interval, $4, $5,
                        $6::interval, null, false,
                        true, 'off',
                        false, false) $q$, v_schema)
              using 'core.event_log', 'emitted_at', '1 month', 'none', 7, '6 months';
        exception when others then
            if core_private.is_transient(sqlstate) then
                raise;
            end if;
            v_driver := format('built in, since %s refused: %s %s', v_driver, sqlstate, sqlerrm);
        end;
    end if;
    if not exists (select from core_private.log_partitions() p where p.is_default) then
        execute 'create table core.event_log_default partition of core.event_log default';
    end if;
    if not exists (select from core_private.log_partitions() p where not p.is_default) then
        perform core_private.create_months();
    end if;
    perform core_private.comment_partitions();
    return v_driver;
end $$;
comment on function core_private.set_up_partitions() is 'Makes core.event_log a set of monthly partitions, seven ahead, kept six months; safe to run again.';
