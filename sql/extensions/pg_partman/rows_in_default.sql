-- Through the log where the default partition itself may not be read, since somebody else owns it.
create or replace function core_private.rows_in_default()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_default regclass := (select p.relation from core_private.log_partitions() p where p.is_default);
    v_n       bigint := 0;
begin
    if has_table_privilege(v_default, 'select') then
        execute format('select count(*) from (select from %s limit 10001) d', v_default) into v_n;
    elsif v_default is not null then
        select count(*) into v_n from (select from core.event_log e where e.tableoid = v_default limit 10001) d;
    end if;
    return v_n;
end $$;
comment on function core_private.rows_in_default() is 'Rows in the default partition, counted up to 10,001; more than none means that maintenance came late.';
