create or replace function core_private.principal()
returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select session_user || case when current_setting('role') in ('none', session_user) then '' else ' as ' || current_setting('role') end
$$;
comment on function core_private.principal() is 'Who is recorded: the session user, with the role set, if any.';
