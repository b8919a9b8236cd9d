-- The message is put on the queue of the consumer requests alone, under the handler's key; the log has it under the
-- handler's name. Without a live node there is nothing to wait for: the reply is there at once, and no event. Nodes
-- that drain take nothing new, so they do not count. Handlers in SQL may be run by sessions that are no node. Any node
-- starts a workflow that has a definition.
--
-- Nodes with handlers make the consumer. For others whoever asks first does.
create or replace function core.request(
    p_namespace text, p_target text, p_payload jsonb = '{}', p_options jsonb = '{}')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known   constant text[] := array[
        'timeout', 'headers', 'producer', 'correlation_id', 'causation_uid', 'depth'];
    v_now     timestamptz := core_private.now();
    v_target  text := core_private.check_target(p_target);
    v_name    text := substr(v_target, strpos(v_target, ':') + 1);
    v_inbox   uuid := gen_random_uuid();
    v_until   timestamptz;
    v_max     integer;
    v_o       record;
    v_queue   text;
    v_live    boolean;
    v_waits   boolean;
    v_id      bigint;
    v_uid     uuid;
begin
    perform core_private.require_duty(p_namespace, 'produce');
    perform core_private.check_option_keys(p_options, v_known);
    v_until := v_now + case when p_options ? 'timeout'
                            then core_private.parse_interval(p_options -> 'timeout', 'timeout', '1 ms', '5 min')
                            else interval '30 seconds' end;
    select o.* into v_o from core_private.parse_emit_options(p_options - 'timeout', v_now) o;
    v_waits := v_target ^@ 'workflow:' and core_private.newest_definition(p_namespace, v_name) is not null;
    if v_target !~ '^(go|workflow):' or v_waits then
        perform core_private.name_handler(p_namespace, v_target, 'p_target');
        perform core_private.open_routed(p_namespace, 'requests');
    end if;
    select n.max_payload_bytes, c.queue_name,
           v_target ^@ 'sql:' or exists (
               select
                 from core.nodes x
                 join core_private.node_capabilities a on a.node_id = x.node_id and a.incarnation = x.incarnation
                where x.namespace = p_namespace and x.state in ('starting', 'active')
                  and x.last_heartbeat >= v_now - 3 * x.heartbeat_every
                  and a.kind = 'event_type' and a.consumer = 'requests' and a.key = v_target)
           or v_waits and exists (
               select
                 from core.nodes x
                where x.namespace = p_namespace and x.state in ('starting', 'active')
                  and x.last_heartbeat >= v_now - 3 * x.heartbeat_every)
      into v_max, v_queue, v_live
      from core.namespaces n
      left join core.consumers c on c.namespace = n.namespace and c.name = 'requests' and c.routed
     where n.namespace = p_namespace;
    perform core_private.check_payload(p_payload, v_max);
    if v_queue is null or not v_live then
        insert into core.inbox (
            inbox_id, namespace, target, state, status, error, requested_by, requested_at, expires_at, answered_at,
            xact_id)
        values (
            v_inbox, p_namespace, v_target, 'answered', 503, format('no live node has the handler %s', v_target),
            core_private.principal(), v_now, v_until, v_now,
            pg_current_xact_id());
        return v_inbox;
    end if;

    v_id := case when pg_current_xact_id() is not null then nextval('core.event_id_seq') end;
    v_uid := gen_random_uuid();
    perform core_private.deliver_routed(
        v_queue, v_target,
        core_private.envelope(
            p_namespace, v_name, p_payload, v_now, v_id, v_uid, v_o.producer, null,
            v_o.correlation_id, v_o.causation_uid, false, null, null, v_o.depth)
        || jsonb_build_object('replyTo', v_inbox),
        v_o.headers, null, v_now);
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, producer_node_id,
        metadata,
        event_uid, correlation_id, causation_uid, depth, headers, principal)
    values (
        v_id, p_namespace, v_name, p_payload, v_now, v_o.producer,
        jsonb_build_object('target', v_target, 'replyTo', v_inbox),
        v_uid, v_o.correlation_id, v_o.causation_uid, v_o.depth, v_o.headers, core_private.principal());
    insert into core.inbox (
        inbox_id, namespace, target, event_uid, state, requested_by, requested_at, expires_at, xact_id)
    values (
        v_inbox, p_namespace, v_target, v_uid, 'waiting', core_private.principal(), v_now, v_until,
        pg_current_xact_id());
    return v_inbox;
end $$;
comment on function core.request(text, text, jsonb, jsonb) is 'Asks a handler of the namespace for a reply: a name means one that nodes have in Go, sql:, webhook: or workflow: before it another one. Returns the id to wait with, core.await_reply or core.take_reply, after the commit: what is rolled back never runs. It runs at most once. Where no live node has the handler the reply is 503, and there at once. Options: timeout (30 s; up to 5 min), headers, producer, correlation_id, causation_uid, depth. Raises NX003, NX004, NX005, NX006, NX101, NX110, NX111, NX202, NX212, NX401, NX402, NX601, NX604.';
