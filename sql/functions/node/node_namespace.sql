create or replace function core_private.node_namespace(p_node_id text, p_duty text)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
begin
    select n.namespace into v_namespace from core.nodes n where n.node_id = p_node_id;
    if not found or core_private.is_hidden(v_namespace) then
        raise exception using errcode = 'NX104', column = 'p_node_id',
            message = format('there is no node %s', coalesce(quote_literal(left(p_node_id, 200)), 'NULL')),
            hint = 'Nodes are listed in core.node_status.';
    end if;
    perform core_private.require_duty(v_namespace, p_duty);
    return v_namespace;
end $$;
comment on function core_private.node_namespace(text, text) is 'The namespace of a node the caller may do this to. Raises NX104, NX401, NX402.';
