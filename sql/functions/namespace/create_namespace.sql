-- As its caller: EXECUTE on core.register_namespace, which goes by the true current_user, is what tells who may create.
create or replace function core.create_namespace(p_namespace text, p_options jsonb = '{}')
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if has_function_privilege('core.register_namespace(text, jsonb)', 'execute') then
        return core.register_namespace(p_namespace, p_options);
    end if;
    perform core.require_namespace(p_namespace, p_options);
    return false;
end $$;
comment on function core.create_namespace(text, jsonb) is 'Registers a namespace and creates its queues; true if it did, false if it was there, which any duty may ask (core.require_namespace). Options that are given again must be those in force; what is left out may be anything. Done again by an administrator, it also makes those of its queues again whose tables are missing: true then, too. Options: metadata, retry, unhandled_after, max_payload_bytes, dedupe_for, keep_broadcasts, workflow_retention, expire_unresolved ("off"), default_consumer ("on"; "off" for namespaces that use named consumers only), restricted. Raises NX001, NX004, NX005, NX007, NX201, NX202, NX401.';
