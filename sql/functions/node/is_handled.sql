create or replace function core_private.is_handled(p_namespace text, p_event_type text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select from core.nodes n join core_private.node_capabilities c on c.node_id = n.node_id and c.incarnation = n.incarnation
         where n.namespace = p_namespace and n.state in ('starting', 'active', 'draining') and c.kind = 'event_type'
           and core_private.matches(c.key, p_event_type))
$$;
comment on function core_private.is_handled(text, text) is 'Whether some live node of the namespace handles the type.';
