-- Anyone may send to a queue by hand. Not pinned, so that it is inlined.
create or replace function core_private.priority_of(p_message jsonb)
returns integer
language sql immutable
as $$
    select case
        when p_message operator(pg_catalog.->>) 'priority' operator(pg_catalog.=) '2' then 2
        when p_message operator(pg_catalog.->>) 'priority' operator(pg_catalog.=) '3' then 3
        when p_message operator(pg_catalog.->>) 'priority' operator(pg_catalog.=) '4' then 4
        else 1 end
$$;
comment on function core_private.priority_of(jsonb) is 'The priority of a message, 1 to 4; 1 where it says nothing that is one.';
