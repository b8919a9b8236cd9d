-- Not pinned, so that it is inlined into the claim.
create or replace function core_private.event_type_of(p_message jsonb)
returns text
language sql immutable parallel safe
as $$
    select core_private.type_if_valid(p_message operator(pg_catalog.->>) 'eventType', p_message)
$$;
comment on function core_private.event_type_of(jsonb) is 'The event type of an envelope; NULL for a message that is none.';
