-- Inside a definer function current_user is the owner, so the caller is the role set by SET ROLE, else the login. That
-- it is the caller's own session is for core_private.refuse_borrowed_session to say. nexus_sql has no rights of its
-- own, and acts for the owner of the handlers that it runs. In PL/pgSQL, whose plan is kept.
create or replace function core_private.caller()
returns name
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce(
               case when session_user = 'nexus_sql' then core_private.acting_for() end,
               case when current_setting('role') = 'none'
                    then session_user::name else current_setting('role')::name end);
end $$;
comment on function core_private.caller() is 'Who is asking: the role set by SET ROLE, else the session user; in a transaction of nexus_sql for whom it acts.';
