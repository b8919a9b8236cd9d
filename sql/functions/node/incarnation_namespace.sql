create or replace function core_private.incarnation_namespace(p_node_id text, p_incarnation uuid)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
begin
    select n.namespace
      into v_namespace
      from core.nodes n
     where n.node_id = p_node_id and n.incarnation = p_incarnation;
    if not found or core_private.is_hidden(v_namespace) then
        return null;
    end if;
    perform core_private.require_duty(v_namespace, 'consume');
    return v_namespace;
end $$;
comment on function core_private.incarnation_namespace(text, uuid) is 'The namespace of a life of a node that the caller may speak for; NULL if it is unknown or superseded. Raises NX401, NX402.';
