create or replace function core_private.traceparent_if_valid(p_value jsonb)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case when jsonb_typeof(p_value) = 'string'
                 and p_value #>> '{}' ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' then p_value #>> '{}' end
$$;
comment on function core_private.traceparent_if_valid(jsonb) is 'A traceparent as W3C Trace Context has it; NULL for anything else.';
