-- A cursor goes with its node, so a node that reads broadcasts stays for as long as they are kept for it.
create or replace function core_private.forget_nodes(p_older_than interval = '7 days')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_n      integer;
begin
    delete from core.nodes n
     using (select x.node_id from core.nodes x
             where x.state in ('stopped', 'lost') and x.last_heartbeat < v_now - p_older_than
               and x.namespace <> all (v_closed)
               and not exists (
                   select
                     from core_private.broadcast_cursors c
                     join core.namespaces s on s.namespace = c.namespace
                    where c.node_id = x.node_id and x.last_heartbeat >= v_now - s.keep_broadcasts)
             limit 10000 for update skip locked) gone
     where n.node_id = gone.node_id;
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.forget_nodes(interval) is 'Removes nodes that have been gone for p_older_than, those that read broadcasts not before keep_broadcasts of their namespace.';
