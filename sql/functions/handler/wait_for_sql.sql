-- A node has the duty, and cannot read which queues these are; nexus_sql could, and has no duty.
create or replace function core_node.wait_for_sql(p_namespace text, p_for interval)
returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keys text[];
begin
    perform core_private.require_duty(p_namespace, 'consume');
    v_keys := array(
        select distinct w.queue_name from core_private.sql_work(p_namespace) w order by w.queue_name);
    perform core_node.wait_for_wake(v_keys, p_for);
    return v_keys;
end $$;
comment on function core_node.wait_for_sql(text, interval) is 'For nodes: says as core_node.wait_for_wake that somebody waits for the queues of all SQL handlers of the namespace, and returns these: the keys by which emit notifies. Raises NX006, NX101, NX401, NX402.';
