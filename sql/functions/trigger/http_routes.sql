-- The generation says by which state of the namespace's triggers these are: what goes by an older one is refused.
create or replace function core_node.http_routes(p_namespace text, out generation bigint, out routes jsonb)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform core_private.require_duty(p_namespace, 'produce');
    select n.trigger_generation, coalesce(x.routes, '[]')
      into generation, routes
      from core.namespaces n
      left join lateral (
            select jsonb_agg(jsonb_build_object(
                       'id', t.trigger_id, 'method', d.method, 'path', d.path,
                       'token_hash', coalesce(encode(d.token_hash, 'hex'), ''))) as routes
              from core.http_trigger_details d
              join core.triggers t on t.trigger_id = d.trigger_id
             where d.namespace = n.namespace and t.enabled) x on true
     where n.namespace = p_namespace;
end $$;
comment on function core_node.http_routes(text) is 'For programs that serve triggers of kind http: those that are enabled, with method, path and the SHA-256 of the token, empty where it is public; and the generation of the triggers that this is. Raises NX101, NX401, NX402.';
