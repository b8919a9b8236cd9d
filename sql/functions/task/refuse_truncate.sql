create or replace function core_private.refuse_truncate()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX013', column = tg_table_name,
        message = format('%I.%I cannot be truncated: its jobs in pg_cron would stay', tg_table_schema, tg_table_name),
        hint = format('Delete instead: delete from %I.%I;', tg_table_schema, tg_table_name);
end $$;
comment on function core_private.refuse_truncate() is 'Raises NX013.';
