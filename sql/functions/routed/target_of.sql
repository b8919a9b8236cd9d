-- Not pinned, so that it is inlined. What was sent by hand may say anything, so both have to read as what they are.
create or replace function core_private.target_of(p_message jsonb)
returns text
language sql immutable parallel safe
as $$
    select case
        when p_message operator(pg_catalog.->>) 'eventType' operator(pg_catalog.~) '^(go|sql|webhook|workflow):'
         and pg_catalog.jsonb_typeof(p_message operator(pg_catalog.->) 'sourceType') operator(pg_catalog.=) 'string'
         and core_private.is_event_type(p_message operator(pg_catalog.->>) 'sourceType')
        then p_message operator(pg_catalog.->>) 'eventType' end
$$;
comment on function core_private.target_of(jsonb) is 'The key of the handler that a delivery names; NULL for one that goes by its event type.';
