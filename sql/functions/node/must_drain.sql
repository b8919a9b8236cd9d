create or replace function core_node.must_drain(p_node_id text, p_incarnation uuid)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (select from core.nodes n
                    where n.node_id = p_node_id and n.incarnation = p_incarnation and n.drain_requested_at is not null
                      and not core_private.is_hidden(n.namespace))
$$;
comment on function core_node.must_drain(text, uuid) is 'For nodes: whether somebody asked this incarnation to drain.';
