-- Lost races, locks not had in time, a server that stops or has no resources, a standby.
create or replace function core_private.is_transient(p_sqlstate text)
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select p_sqlstate in ('40001', '40P01', '55P03', '25006') or left(p_sqlstate, 2) in ('53', '57')
$$;
comment on function core_private.is_transient(text) is 'Whether an error passes by itself, so that it is no fault of what was tried.';
