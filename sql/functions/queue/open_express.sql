-- The marker is written without waiting for the disk: a server that crashes takes the batch with it.
create or replace function core.open_express(
    p_queue text, p_node text, p_key bigint, p_ids bigint[], p_floor bigint = 0, out leases boolean, out marker_id bigint)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := core_private.now();
    v_lowest  bigint;
    v_highest bigint;
begin
    perform core_private.queue_owner(p_queue, 'consume');
    if p_key is null or coalesce(cardinality(p_ids), 0) = 0 then
        raise exception using errcode = 'NX006', column = 'p_ids', message = 'a batch has a key and messages', hint = 'This function is for nodes; see its comment.';
    end if;
    perform set_config('synchronous_commit', 'off', true);
    perform core_private.note_express_deaths(p_queue, coalesce(p_floor, 0));
    leases := core_private.express_trouble(p_queue);
    if not leases then
        select min(i), max(i) into v_lowest, v_highest from unnest(p_ids) i;
        insert into core_private.express_batches (queue_name, lock_key, node_id, lowest, highest, msg_ids, opened_at)
        values (p_queue, p_key, coalesce(p_node, ''), v_lowest, v_highest,
                case when v_highest - v_lowest >= 2 * cardinality(p_ids) then p_ids end, v_now)
        returning express_batches.marker_id into marker_id;
    end if;
end $$;
comment on function core.open_express(text, text, bigint, bigint[], bigint) is 'For nodes, before the handlers of an express batch run and on another connection than the batch: marks it as in hand, unless the consumer has to use leases because a node died in express within the last five minutes. Looks for such deaths from marker p_floor on. Raises NX006, NX103, NX401, NX402.';
