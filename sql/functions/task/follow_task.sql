-- In the transaction that wrote the task. Slots that were due and not fired are recorded as skipped: a change takes
-- effect at once.
create or replace function core_private.follow_task()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz;
    v_reason text;
    v_after  timestamptz;
    v_job    bigint;
begin
    if tg_op <> 'INSERT' then
        v_now := case when tg_op = 'DELETE' then core_private.now() else new.updated_at end;
        v_reason := case when tg_op = 'DELETE' then 'deleted' when not new.active then 'paused' else 'edited' end;
        if old.next_slot <= v_now and (tg_op = 'DELETE' or new.next_slot is distinct from old.next_slot) then
            v_after := core_private.next_task_slot(
                old.spec, old.timezone, old.next_slot, old.created_at, old.starts_at, old.ends_at);
            insert into core.task_slots (task_id, slot, namespace, status, reason, until, recorded_at)
            values (old.task_id, old.next_slot, old.namespace, 'skipped', v_reason,
                    case when v_after <= v_now then v_now end, v_now)
            on conflict do nothing;
        end if;
        if old.waiting_slot is not null and (tg_op = 'DELETE' or new.waiting_slot is null) then
            update core.task_slots s set status = 'skipped', reason = v_reason, recorded_at = v_now
             where s.task_id = old.task_id and s.slot = old.waiting_slot and s.status = 'waiting';
        end if;
    end if;

    if tg_op = 'DELETE' then
        perform core_private.drop_cron_job(old.task_id, old.job_id);
        return null;
    end if;
    if tg_op = 'UPDATE'
       and (new.namespace, new.name, new.cron_expression, new.timezone, new.active)
           is not distinct from
           (old.namespace, old.name, old.cron_expression, old.timezone, old.active) then
        return null;
    end if;
    if tg_op = 'INSERT' or new.cron_expression <> old.cron_expression then
        perform core_private.note_cron_warnings(new.spec);
    end if;
    -- The name of the job has the namespace in it.
    if tg_op = 'UPDATE' and (not new.active or new.namespace <> old.namespace) then
        perform core_private.drop_cron_job(old.task_id, old.job_id);
    end if;
    if new.active then
        v_job := core_private.give_cron_job(new.task_id, new.namespace, new.cron_expression, new.timezone);
    end if;
    update core.scheduled_tasks t set job_id = v_job where t.task_id = new.task_id and t.job_id is distinct from v_job;
    perform core_private.wake('timers', new.updated_at);
    return null;
end $$;
comment on function core_private.follow_task() is 'After a task was written: records slots that were dropped, and keeps its pg_cron job in step.';
