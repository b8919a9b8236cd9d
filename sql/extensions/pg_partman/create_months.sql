create or replace function core_private.create_months(p_ahead integer = 7)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
    v_major integer := (select split_part(e.default_version, '.', 1)::integer from pg_available_extensions e where e.name = 'pg_partman');
    v_from  timestamptz;
    v_name  text;
    v_made  integer := 0;
begin
    for v_from in select generate_series(date_trunc('month', core_private.now()) - interval '1 month', date_trunc('month', core_private.now()) + p_ahead * interval '1 month', interval '1 month') loop
        v_name := 'event_log_p' || to_char(v_from, case when v_major < 5 then 'YYYY_MM' else 'YYYYMMDD' end);
        continue when to_regclass('core.' || v_name) is not null;
        execute format('create table core.%I partition of core.event_log for values from (%L) to (%L)', v_name, v_from, v_from + interval '1 month');
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;
comment on function core_private.create_months(integer) is 'Creates missing monthly partitions without pg_partman; returns how many.';
