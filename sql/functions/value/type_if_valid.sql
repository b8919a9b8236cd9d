-- p_text is p_message ->> 'eventType'. It is looked at first, since finding it is most of the work; what it is in
-- JSON matters only for what a number or a boolean may read like. Not pinned, so that it is inlined into claims.
create or replace function core_private.type_if_valid(p_text text, p_message jsonb)
returns text
language sql immutable parallel safe
as $$
    select case when p_text operator(pg_catalog.~) '^[A-Za-z0-9][A-Za-z0-9._:/-]*$' collate pg_catalog."C"
                 and pg_catalog.octet_length(p_text) operator(pg_catalog.<=) 200
                 and (p_text operator(pg_catalog.>=) 'A' collate pg_catalog."C"
                      and p_text operator(pg_catalog.<>) 'true' and p_text operator(pg_catalog.<>) 'false'
                      or pg_catalog.jsonb_typeof(p_message operator(pg_catalog.->) 'eventType')
                         operator(pg_catalog.=) 'string')
                then p_text end
$$;
comment on function core_private.type_if_valid(text, jsonb) is 'The event type of an envelope whose eventType reads like this; NULL if it is none.';
