-- Not pinned, so that it is inlined. The length stands outside the expression: a bounded repetition makes the match
-- twenty times slower.
create or replace function core_private.is_event_type(p_event_type text)
returns boolean
language sql immutable parallel safe
as $$
    select p_event_type operator(pg_catalog.~) '^[A-Za-z0-9][A-Za-z0-9._:/-]*$'
       and pg_catalog.octet_length(p_event_type) operator(pg_catalog.<=) 200
$$;
comment on function core_private.is_event_type(text) is 'Whether it can be an event type.';
