-- Stable, although the clock runs on: a view with a volatile column is computed whole, and no index then serves a
-- query for some of its rows. Within one statement the function is called once or many times, as the plan has it. A
-- caller that waits for a time asks in a new statement.
create or replace function core.now()
returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select core_private.now()
$$;
comment on function core.now() is 'The database clock that due times are judged by.';
