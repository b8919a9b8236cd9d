-- Not pinned, so that it is inlined.
create or replace function core_private.own_type_of(p_message jsonb)
returns text
language sql immutable parallel safe
as $$
    select case when core_private.target_of(p_message) is not null
                then p_message operator(pg_catalog.->>) 'sourceType'
                else core_private.event_type_of(p_message) end
$$;
comment on function core_private.own_type_of(jsonb) is 'The type of the event that is delivered, also where the delivery names a handler; NULL for a message that is no envelope.';
