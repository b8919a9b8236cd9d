create or replace function core_private.counted_headers(p_read_ct integer, p_headers jsonb)
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select core_private.headers_object(p_headers) || jsonb_build_object(
               'nexus-deferrals', p_read_ct - m.counted,
               'nexus-deaths',
               greatest(m.counted - coalesce(core_private.header_number(p_headers, 'nexus-failures'), 0), 0))
      from (select core_private.attempts_counted(p_read_ct, p_headers) as counted) m
$$;
comment on function core_private.counted_headers(integer, jsonb) is 'The headers of a message that is taken, after p_read_ct reads: those that died in company are given back as deferrals, and those that died alone are deaths.';
