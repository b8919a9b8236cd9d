create or replace function core.now()
returns timestamptz
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select core_private.now()
$$;
comment on function core.now() is 'The database clock that due times are judged by.';
