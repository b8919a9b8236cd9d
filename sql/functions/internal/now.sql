-- The one clock. nexustest replaces this function; a session setting instead would let anyone fire the future.
create or replace function core_private.now()
returns timestamptz
language sql volatile parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select clock_timestamp()
$$;
comment on function core_private.now() is 'The database clock every due time is judged by.';
