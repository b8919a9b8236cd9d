-- A process that ends by kill -9 says no goodbye, but its sessions end with it. Only its own kind may conclude from
-- that: the same login, on the host it ran on. A session that a pooler keeps, or a server process whose number was
-- given out again, looks alive.
--
-- So does the session of a process that ended while the network or the server stood still. Whoever runs under the same
-- kernel and in the same space of process numbers can see that the process is not there, and says so (gone). Names of
-- hosts repeat, and so do the numbers of processes in containers; a kernel's boot and a space of numbers do not while
-- they live. Else the heartbeats decide, or an operator.
create or replace function core_private.was_killed(p_node core.nodes, p_info jsonb)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        p_node.principal = core_private.principal() and p_node.metadata ->> 'host' = p_info ->> 'host'
            and (p_node.session_pid <> pg_backend_pid()
                 and not exists (select from pg_stat_activity a where a.pid = p_node.session_pid)
                 or coalesce(p_node.incarnation::text = p_info ->> 'gone'
                             and p_node.metadata #>> '{process,boot}' = p_info #>> '{process,boot}'
                             and p_node.metadata #>> '{process,space}' = p_info #>> '{process,space}', false)),
        false)
$$;
comment on function core_private.was_killed(core.nodes, jsonb) is 'Whether the process behind a node that still counts as alive is surely gone.';
