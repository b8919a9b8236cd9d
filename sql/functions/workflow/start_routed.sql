-- A delivery is done once, also where its acknowledgement is lost: the run has a key of its own. What the event was
-- emitted with comes along, so that a loop through a workflow ends as one through handlers does. A slot of a task
-- is under way until its run has ended.
create or replace function core_private.start_routed(p_namespace text, p_message jsonb, p_headers jsonb)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz := core_private.now();
    v_workflow text := substr(p_message ->> 'eventType', 10);
    v_payload  jsonb := coalesce(p_message -> 'payload', 'null');
    v_uid      uuid := core_private.uuid_if_valid(p_message ->> 'eventUid');
    v_trigger  uuid := core_private.uuid_if_valid(p_message ->> 'triggerId');
    v_key      text := p_namespace || '/' || coalesce(v_trigger::text, 'request') || '/' || v_uid;
    v_run      uuid;
begin
    perform core_private.check_payload(
        v_payload, (select n.max_payload_bytes from core.namespaces n where n.namespace = p_namespace));
    v_run := core_private.new_run(
        p_namespace, v_workflow, core_private.newest_definition(p_namespace, v_workflow), v_payload, v_now, null,
        coalesce(nullif(left(p_message ->> 'correlationId', 512), ''), v_uid::text), null, v_key, v_now,
        p_depth => least(coalesce(core_private.header_number(p_message, 'depth'), 0), 1000000)::integer + 1,
        p_causation_uid => v_uid,
        p_traceparent => core_private.traceparent_if_valid(core_private.headers_object(p_headers) -> 'traceparent'),
        p_task => (select t.task_id
                     from core.scheduled_tasks t
                    where t.task_id = core_private.uuid_if_valid(p_message ->> 'scheduledTaskId')
                      and t.namespace = p_namespace));
    return coalesce(v_run, (
        select r.run_id
          from core_private.workflow_runs r
         where r.namespace = p_namespace and r.workflow = v_workflow and r.idempotency_key = v_key));
end $$;
comment on function core_private.start_routed(text, jsonb, jsonb) is 'Starts the run that a delivery to a workflow asks for, unless it has; returns its id. Raises NX003, NX601.';
