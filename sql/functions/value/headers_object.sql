-- Not pinned, so that it is inlined.
create or replace function core_private.headers_object(p_headers jsonb)
returns jsonb
language sql immutable parallel safe
as $$
    select case when pg_catalog.jsonb_typeof(p_headers) operator(pg_catalog.=) 'object' then p_headers
                else '{}'::pg_catalog.jsonb end
$$;
comment on function core_private.headers_object(jsonb) is 'The headers, if they are an object; else none.';
