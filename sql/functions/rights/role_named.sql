create or replace function core_private.role_named(p_role text)
returns regrole
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select r.oid::regrole from pg_roles r where r.rolname = p_role
$$;
comment on function core_private.role_named(text) is 'The role of that name; NULL if there is none.';
