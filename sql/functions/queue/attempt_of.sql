-- Not pinned, so that it is inlined.
create or replace function core_private.attempt_of(p_read_ct integer, p_headers jsonb)
returns integer
language sql immutable parallel safe
as $$
    select greatest(p_read_ct operator(pg_catalog.-) coalesce(core_private.header_number(p_headers, 'nexus-deferrals'), 0), 0)::pg_catalog.int4
$$;
comment on function core_private.attempt_of(integer, jsonb) is 'Which attempt a message stands at: its reads without its deferrals.';
