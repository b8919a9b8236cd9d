-- Each level has the message ids of a range of its own: the first what the queue's sequence draws, each further one
-- those 10^15 above the last. All of them are exact as JSON numbers. Not pinned, so that it is inlined.
create or replace function core_private.level_offset(p_levels integer, p_priority integer)
returns bigint
language sql immutable
as $$
    select case when p_levels operator(pg_catalog.>) 1 and p_priority operator(pg_catalog.>) 1
                then (least(p_levels, p_priority) operator(pg_catalog.-) 1)::bigint
                     operator(pg_catalog.*) 1000000000000000
                else 0 end
$$;
comment on function core_private.level_offset(integer, integer) is 'What is added to an id of the queue''s sequence for an event of that priority (NULL: 1), on the queue of a consumer with so many levels.';
