create or replace function core_private.bytes_at_once()
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select 33554432
$$;
comment on function core_private.bytes_at_once() is 'How large the messages may be, together, that one call hands out or writes, about: it takes one more than fit.';
