-- Not pinned, so that it is inlined into the claim.
create or replace function core_private.event_type_of(p_message jsonb)
returns text
language sql immutable parallel safe
as $$
    select case when pg_catalog.jsonb_typeof(p_message operator(pg_catalog.->) 'eventType') operator(pg_catalog.=) 'string'
                 and (p_message operator(pg_catalog.->>) 'eventType') operator(pg_catalog.~) '^[A-Za-z0-9][A-Za-z0-9._:/-]*$' collate pg_catalog."C"
                 and pg_catalog.octet_length(p_message operator(pg_catalog.->>) 'eventType') operator(pg_catalog.<=) 200
                then p_message operator(pg_catalog.->>) 'eventType' end
$$;
comment on function core_private.event_type_of(jsonb) is 'The event type of an envelope; NULL for a message that is none.';
