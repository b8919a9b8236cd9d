-- Each deferral follows a read, so a count beyond the reads was sent by hand, and says nothing. p_read_ct counts reads
-- that are over: of a message in flight ask for the reads before, and add one. Not pinned, so that it is inlined.
create or replace function core_private.attempt_of(p_read_ct integer, p_headers jsonb)
returns integer
language sql immutable parallel safe
as $$
    select case when core_private.header_number(p_headers, 'nexus-deferrals') operator(pg_catalog.<=) p_read_ct
                then p_read_ct
                     operator(pg_catalog.-) core_private.header_number(p_headers, 'nexus-deferrals')::pg_catalog.int4
                else p_read_ct end
$$;
comment on function core_private.attempt_of(integer, jsonb) is 'Which attempt a message stands at: its reads without its deferrals.';
