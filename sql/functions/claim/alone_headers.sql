create or replace function core_private.alone_headers(p_read_ct integer, p_headers jsonb)
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select core_private.counted_headers(p_read_ct, p_headers) || jsonb_build_object('nexus-alone', p_read_ct + 1)
$$;
comment on function core_private.alone_headers(integer, jsonb) is 'The headers of a message that a claim takes alone: its next death counts, and reads that died in company are given back as deferrals.';
