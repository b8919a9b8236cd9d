create or replace function core_private.forget_nodes(p_older_than interval = '7 days')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before timestamptz := core_private.now() - p_older_than;
    v_n      integer;
begin
    delete from core.nodes n where n.state in ('stopped', 'lost') and n.last_heartbeat < v_before;
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.forget_nodes(interval) is 'Removes nodes that have been gone for p_older_than.';
