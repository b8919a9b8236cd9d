-- One wrapper for 4.7 and 5.x, which differ in p_type only; boundaries are UTC whoever runs it. Where pg_partman is missing, months are
-- made here, under the names it would take over later.
create or replace function core_private.set_up_partitions()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
    v_schema text := core_private.partman_schema();
    v_major  integer;
    v_known  boolean;
    v_parts  boolean := exists (select from pg_inherits i where i.inhparent = 'core.event_log'::regclass);
begin
    if v_schema is null then
        if not exists (select from pg_class c where c.oid = to_regclass('core.event_log_default')) then
            execute 'create table core.event_log_default partition of core.event_log default';
        end if;
        perform core_private.create_months();
        return 'built in';
    end if;
    select split_part(e.extversion, '.', 1)::integer into v_major from pg_extension e where e.extname = 'pg_partman';
    execute format('select exists (select from %I.part_config where parent_table = $1)', v_schema) into v_known using 'core.event_log';
    if not v_known and not v_parts then
        execute format('select %I.create_parent(p_parent_table := $1, p_control := $2, p_type := $3, p_interval := $4, p_premake := $5, p_jobmon := false)', v_schema)
          using 'core.event_log', 'emitted_at', case when v_major >= 5 then 'range' else 'native' end, '1 month', 7;
    elsif not v_known then
        -- A restored or formerly built-in set: create_parent refuses it, its row is enough.
        execute format('insert into %I.part_config (parent_table, control, partition_type, partition_interval, premake, datetime_string, automatic_maintenance, jobmon)
                        values ($1, $2, $3, $4, $5, $6, ''on'', false)', v_schema)
          using 'core.event_log', 'emitted_at', case when v_major >= 5 then 'range' else 'native' end, '1 month', 7,
                case when v_major >= 5 then 'YYYYMMDD' else 'YYYY_MM' end;
    end if;
    execute format('update %I.part_config set retention = $2, retention_keep_table = false, infinite_time_partitions = true, premake = 7 where parent_table = $1', v_schema)
      using 'core.event_log', '6 months';
    return format('pg_partman %s in %s', v_major, v_schema);
end $$;
comment on function core_private.set_up_partitions() is 'Makes core.event_log a set of monthly partitions, seven ahead, kept six months; safe to run again.';
