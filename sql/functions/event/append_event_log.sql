create or replace function core.append_event_log(
    p_namespace text, p_event_type text, p_payload jsonb, p_producer_node_id text,
    p_scheduled_task_id uuid = null, p_metadata jsonb = null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id  bigint;
    v_max integer;
    v_generation bigint;
    v_fired bigint;
begin
    perform core_private.require_scheduling(p_namespace);
    select n.max_payload_bytes, nullif(n.consumer_generation, 0), nullif(n.trigger_generation, 0)
      into v_max, v_generation, v_fired
      from core.namespaces n where n.namespace = p_namespace;
    perform core_private.check_event_type(p_event_type);
    perform core_private.check_payload(p_payload, v_max);
    if jsonb_typeof(p_metadata) <> 'object' then
        raise exception using errcode = 'NX006', column = 'p_metadata',
            message = format('p_metadata is not an object: %s', left(p_metadata::text, 100)),
            hint = 'Give an object such as ''{"messageId": 1}'', or NULL.';
    end if;
    if octet_length(p_producer_node_id) > 512 then
        raise exception using errcode = 'NX604', column = 'p_producer_node_id',
            message = format('p_producer_node_id has %s bytes, at most 512 are allowed',
                octet_length(p_producer_node_id)),
            hint = 'Give the id of a node or the name of a program.';
    end if;
    if p_producer_node_id = '' then
        raise exception using errcode = 'NX006', column = 'p_producer_node_id',
            message = 'p_producer_node_id is empty',
            hint = 'Give the id of a node or the name of a program, or NULL.';
    end if;
    if octet_length(p_metadata::text) > 65536 then
        raise exception using errcode = 'NX604', column = 'p_metadata',
            message = format('p_metadata has %s bytes, at most 65536 are allowed', octet_length(p_metadata::text)),
            hint = 'Put the data into the payload.';
    end if;
    perform pg_current_xact_id();
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at,
        producer_node_id, scheduled_task_id, metadata, principal, consumer_generation,
        trigger_generation)
    values (
        nextval('core.event_id_seq'), p_namespace, p_event_type, p_payload, core_private.now(),
        p_producer_node_id, p_scheduled_task_id, coalesce(p_metadata, '{}'), core_private.principal(), v_generation,
        v_fired)
    returning event_id into v_id;
    return v_id;
end $$;
comment on function core.append_event_log(text, text, jsonb, text, uuid, jsonb) is 'Writes a log row and delivers nothing; returns its event_id. A NULL metadata becomes {}. Raises NX001, NX002, NX003, NX006, NX101, NX401, NX402, NX601, NX604.';
