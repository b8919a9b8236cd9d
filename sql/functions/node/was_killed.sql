-- A process that ends by kill -9 says no goodbye, but its sessions end with it. Only its own kind may conclude from that: the same login,
-- on the host it ran on. A session that a pooler keeps, or a server process whose number was given out again, looks alive: then the
-- heartbeats decide, or an operator.
create or replace function core_private.was_killed(p_node core.nodes, p_info jsonb)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(p_node.principal = core_private.principal() and p_node.metadata ->> 'host' = p_info ->> 'host'
                    and p_node.session_pid <> pg_backend_pid()
                    and not exists (select from pg_stat_activity a where a.pid = p_node.session_pid), false)
$$;
comment on function core_private.was_killed(core.nodes, jsonb) is 'Whether the process behind a node that still counts as alive is surely gone.';
