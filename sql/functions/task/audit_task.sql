-- What Nexus keeps with a task for itself, as its next slot, is no act of anybody.
create or replace function core_private.audit_task(
    p_action text, p_before core.scheduled_tasks, p_after core.scheduled_tasks)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_own    constant text[] := '{cron_expression,event_type,payload,timezone,active,misfire,misfire_after,
                                  backfill,overlap,jitter,starts_at,ends_at,owner}';
    v_before jsonb := to_jsonb(p_before);
    v_after  jsonb := to_jsonb(p_after);
begin
    perform core_private.audit_change(
        p_action, coalesce(p_after.namespace, p_before.namespace), coalesce(p_after.name, p_before.name),
        case when p_before.task_id is not null
             then (select jsonb_object_agg(k, v_before -> k) from unnest(v_own) k) end,
        case when p_after.task_id is not null
             then (select jsonb_object_agg(k, v_after -> k) from unnest(v_own) k) end);
end $$;
comment on function core_private.audit_task(text, core.scheduled_tasks, core.scheduled_tasks) is 'Records what somebody made of a task; NULL where it was not there, or is not any more.';
