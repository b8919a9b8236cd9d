-- Not pinned, so that it is inlined; to_jsonb would write the session's zone.
create or replace function core_private.iso(p_time timestamptz)
returns text
language sql stable parallel safe
as $$
    select pg_catalog.to_char(pg_catalog.timezone('UTC', p_time), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
comment on function core_private.iso(timestamptz) is 'ISO 8601 in UTC with microseconds.';
