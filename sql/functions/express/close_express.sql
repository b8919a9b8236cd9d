create or replace function core_node.close_express(p_queue text, p_marker bigint)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.queue_owner(p_queue, 'consume', false);
    perform set_config('synchronous_commit', 'off', true);
    delete from core_private.express_batches b where b.queue_name = p_queue and b.marker_id = p_marker;
end $$;
comment on function core_node.close_express(text, bigint) is 'For nodes: takes back the mark of an express batch that is rolled back on purpose, while its transaction still runs. Raises NX103, NX401, NX402.';
