-- EXECUTE is nexus_sql's alone, but a superuser may call anything, and what a handler leaves in the session of a
-- superuser runs as one.
create or replace function core_private.require_sql_login(p_function text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if session_user <> 'nexus_sql' then
        raise exception using errcode = 'NX401', column = 'p_function',
            message = format('%s is for the login nexus_sql, and this is %I', p_function, session_user),
            hint = 'core.work runs the handlers that you own yourself.';
    end if;
end $$;
comment on function core_private.require_sql_login(text) is 'Raises NX401 in sessions of others than nexus_sql, which has no other right that a handler could abuse.';
