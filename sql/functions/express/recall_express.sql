-- On the disk when it returns: a mark that came back with the next crash would count as a death.
create or replace function core_node.recall_express(p_queue text, p_node text, p_keys bigint[])
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n integer;
begin
    perform core_private.queue_owner(p_queue, 'consume', false);
    delete from core_private.express_batches b
     where b.queue_name = p_queue and b.node_id = coalesce(p_node, '') and b.xact_id = any (p_keys);
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_node.recall_express(text, text, bigint[]) is 'For nodes that live and lost a connection: takes back the marks of their own express batches, by the transactions that core_node.open_express was told, also those that count as deaths already. Returns how many there were. Raises NX103, NX401, NX402.';
