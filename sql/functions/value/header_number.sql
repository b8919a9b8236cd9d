-- Anyone may send to a pgmq queue, with any headers: what is no number must not stop the queue. Not
-- pinned, so that it is inlined.
create or replace function core_private.header_number(p_headers jsonb, p_key text)
returns bigint
language sql immutable parallel safe
as $$
    select case when (p_headers operator(pg_catalog.->>) p_key) operator(pg_catalog.~) '^[0-9]+$'
                 and pg_catalog.octet_length(p_headers operator(pg_catalog.->>) p_key) operator(pg_catalog.<=) 16
                then (p_headers operator(pg_catalog.->>) p_key)::pg_catalog.int8 end
$$;
comment on function core_private.header_number(jsonb, text) is 'A header of Nexus''s own that counts something; NULL where it is missing or no number.';
