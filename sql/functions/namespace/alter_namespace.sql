create or replace function core.alter_namespace(p_namespace text, p_options jsonb)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_admin(p_namespace);
    perform core_private.check_namespace_options(p_options);
    update core.namespaces n set options = n.options || p_options where n.namespace = p_namespace;
    perform core_private.apply_namespace_options(p_namespace, p_options);
    if p_options ? 'restricted' then
        perform core_private.grant_queues(p_namespace);
    end if;
end $$;
comment on function core.alter_namespace(text, jsonb) is 'Replaces the options given and keeps the others. Raises NX004, NX005, NX007, NX101, NX401.';
