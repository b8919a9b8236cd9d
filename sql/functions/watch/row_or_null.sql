create or replace function core_private.row_or_null(p_row record)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return to_jsonb(p_row);
exception when others then
    return null;
end $$;
comment on function core_private.row_or_null(record) is 'A row as jsonb; NULL where jsonb does not take it.';
