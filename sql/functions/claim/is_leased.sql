-- What is due later waits, for a retry or a delay, if that is the time in its header; else a claim hides it. Not
-- pinned, so that it is inlined.
create or replace function core_private.is_leased(p_vt timestamptz, p_read_ct integer, p_headers jsonb)
returns boolean
language sql stable parallel safe
as $$
    select p_read_ct operator(pg_catalog.>) 0
           and (p_headers operator(pg_catalog.->>) 'nexus-due'
                operator(pg_catalog.=) core_private.iso(p_vt)) is not true
$$;
comment on function core_private.is_leased(timestamptz, integer, jsonb) is 'Whether a message that is not due is in flight; else it waits.';
