-- The marker is written without waiting for the disk: a server that crashes takes the batch with it.
create or replace function core_node.open_express(
    p_queue text, p_node text, p_key bigint, p_ids bigint[], p_floor bigint = 0, p_pid integer = null,
    out leases boolean, out marker_id bigint)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := core_private.now();
    v_lowest  bigint;
    v_highest bigint;
    v_owner   record;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if p_key is null or p_key < 3 then -- the first number that a transaction can have
        raise exception using errcode = 'NX006', column = 'p_key',
            message = format('p_key cannot be %s', coalesce(p_key::text, 'NULL')),
            hint = 'Give the number of the transaction, as core_node.claim_batch named it.';
    end if;
    if coalesce(cardinality(p_ids), 0) = 0 then
        raise exception using errcode = 'NX006', column = 'p_ids',
            message = 'a batch has messages',
            hint = 'This function is for nodes; see its comment.';
    end if;
    perform set_config('synchronous_commit', 'off', true);
    perform core_private.note_express_deaths(p_queue, coalesce(p_floor, 0));
    leases := core_private.express_trouble(p_queue) or v_owner.limited;
    if not leases then
        select min(i), max(i) into v_lowest, v_highest from unnest(p_ids) i;
        if v_lowest is null or v_lowest < 0 then
            raise exception using errcode = 'NX006', column = 'p_ids',
                message = 'p_ids holds no message, or one below 0',
                hint = 'This function is for nodes; see its comment.';
        end if;
        insert into core_private.express_batches (
            queue_name, xact_id, node_id, incarnation, lowest, highest, msg_ids, opened_at, backend_pid)
        values (p_queue, p_key, coalesce(p_node, ''),
                (select n.incarnation from core.nodes n where n.node_id = p_node), v_lowest, v_highest,
                case when v_highest - v_lowest >= 2 * cardinality(p_ids) then p_ids end, v_now, p_pid)
        returning express_batches.marker_id into marker_id;
    end if;
end $$;
comment on function core_node.open_express(text, text, bigint, bigint[], bigint, integer) is 'For nodes, before the handlers of an express batch run and on another connection than the batch: marks it as in hand (p_key is the transaction that core_node.claim_batch named, p_pid the backend it runs in, where that is known), unless the consumer has to use leases because a node died in express within the last five minutes, or because it has max_in_flight or rate, which leases are counted by. Looks for such deaths from marker p_floor on. Raises NX006, NX103, NX110, NX401, NX402.';
