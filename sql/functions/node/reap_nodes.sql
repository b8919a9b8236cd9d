create or replace function core.reap_nodes()
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_lost integer;
begin
    with lost as (
        update core.nodes n set state = 'lost'
         where n.state in ('starting', 'active', 'draining') and n.last_heartbeat < v_now - 3 * n.heartbeat_every
        returning n.node_id),
    forgotten as (
        delete from core_private.node_capabilities c using core.nodes n
         where n.node_id = c.node_id and (n.state in ('stopped', 'lost') or n.node_id in (select l.node_id from lost l)))
    select count(*)::integer into v_lost from lost;
    return v_lost;
end $$;
comment on function core.reap_nodes() is 'Marks nodes lost that missed three heartbeats; returns how many. Leases end by their own time.';
