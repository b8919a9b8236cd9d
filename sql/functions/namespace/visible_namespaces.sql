create or replace function core.visible_namespaces()
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.refuse_borrowed_session();
    return core_private.namespaces_read_by(core_private.caller());
end $$;
comment on function core.visible_namespaces() is 'The namespaces whose rows the caller may see: those that it may read or operate. Raises 42501 where the session is not the caller''s own.';
