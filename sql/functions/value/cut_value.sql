create or replace function core_private.cut_value(p_value jsonb)
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case when octet_length(p_value::text) <= 1000 then p_value
                else to_jsonb(left(p_value::text, 250) || '…') end
$$;
comment on function core_private.cut_value(jsonb) is 'The value; the beginning of its text where that is longer than 1,000 bytes.';
