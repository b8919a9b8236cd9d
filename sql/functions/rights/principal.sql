-- plpgsql keeps its plan; a pinned SQL function is planned at each call.
create or replace function core_private.principal()
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return session_user
        || case when session_user = 'nexus_sql' then coalesce(' as ' || core_private.acting_for(), '')
                when current_setting('role') in ('none', session_user) then ''
                else ' as ' || current_setting('role') end;
end $$;
comment on function core_private.principal() is 'Who is recorded: the session user, with the role set, if any; for nexus_sql with whom it acts for.';
