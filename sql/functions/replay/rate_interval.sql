-- Not pinned, so that it is inlined; it names everything in full.
create or replace function core_private.rate_interval(p_rate text)
returns interval
language sql immutable
as $$
    select case
           when p_rate operator(pg_catalog.~) '/s$' then '1 second'::pg_catalog.interval
           when p_rate operator(pg_catalog.~) '/min$' then '1 minute'::pg_catalog.interval
           else '1 hour'::pg_catalog.interval end
           operator(pg_catalog./) pg_catalog.split_part(p_rate, '/', 1)::pg_catalog.float8
$$;
comment on function core_private.rate_interval(text) is 'The time from one to the next at a rate such as 100/min.';
