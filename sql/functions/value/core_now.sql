-- Stable, though the clock runs on: a view with something volatile in its columns is computed whole, and no index
-- serves who asks for some rows of it. Within one statement it is asked once or many times, as the plan has it; whoever
-- waits for a time asks again.
create or replace function core.now()
returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select core_private.now()
$$;
comment on function core.now() is 'The database clock that due times are judged by.';
