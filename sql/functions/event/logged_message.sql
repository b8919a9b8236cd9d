-- Not pinned, so that it is inlined; it names everything in full.
create or replace function core_private.logged_message(p_event core.event_log)
returns jsonb
language sql stable
as $$
    select core_private.envelope(
               p_event.namespace, p_event.event_type, p_event.payload, p_event.emitted_at, p_event.event_id,
               p_event.event_uid, p_event.producer_node_id, p_event.ordering_key, p_event.correlation_id,
               p_event.causation_uid, false, p_event.authored_at, p_event.tags, p_event.depth)
           operator(pg_catalog.||)
           pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
               'scheduledTaskId', p_event.scheduled_task_id, 'slot', core_private.iso(p_event.slot),
               'priority', p_event.priority))
$$;
comment on function core_private.logged_message(core.event_log) is 'The message of an event as the log has it.';
