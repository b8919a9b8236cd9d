-- The transaction's own id goes with it: by that, and not by an order of ids, a node tells what it has not seen, since
-- what got the lower id may commit last.
--
-- Behind the deliveries, since it locks the row of the namespace, as who drops one does behind its queues.
create or replace function core_private.store_broadcast(
    p_namespace text, p_event_id bigint, p_event_uid uuid, p_event_type text, p_message jsonb, p_headers jsonb,
    p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.keep_namespace(p_namespace);
    insert into core.broadcasts (
        namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message, headers)
    values (
        p_namespace, core_private.cluster_id(), pg_current_xact_id(), p_event_id, p_event_uid, p_event_type, p_now,
        p_message, p_headers);
    perform core_private.wake(core_private.broadcast_key(p_namespace), p_now);
end $$;
comment on function core_private.store_broadcast(text, bigint, uuid, text, jsonb, jsonb, timestamptz) is 'Stores an event for all nodes of its namespace and wakes those that wait. Raises NX101.';
