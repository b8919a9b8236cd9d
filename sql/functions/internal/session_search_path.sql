-- pg_partman sets search_path for the session while it works, and such a SET outlives every function around it. Whoever let it run puts
-- the session's own path back, as the last thing before returning.
create or replace function core_private.session_search_path()
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select s.reset_val from pg_settings s where s.name = 'search_path'
$$;
comment on function core_private.session_search_path() is 'The search_path that the session began with.';
