-- The one clock. nexustest replaces this function; a session setting instead would let anyone fire the future. Not
-- pinned, so that it is inlined; it names nothing without its schema.
create or replace function core_private.now()
returns timestamptz
language sql volatile parallel safe
as $$
    select pg_catalog.clock_timestamp()
$$;
comment on function core_private.now() is 'The database clock every due time is judged by.';
