create or replace function core_private.rows_in_default()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n bigint := 0;
begin
    if to_regclass('core.event_log_default') is not null then
        execute 'select count(*) from (select from core.event_log_default limit 10001) d' into v_n;
    end if;
    return v_n;
end $$;
comment on function core_private.rows_in_default() is 'Rows in the default partition, counted up to 10,001; more than none means that maintenance came late.';
