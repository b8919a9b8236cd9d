-- Whatever way a task is written, it is checked, compiled and put in line here. What the engine itself writes fires no
-- trigger.
create or replace function core_private.check_task()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_new boolean := tg_op = 'INSERT';
begin
    if tg_op = 'DELETE' then
        -- A namespace that is dropped is gone by now, and its dropper was asked.
        if exists (select from core.namespaces n where n.namespace = old.namespace) then
            perform core_private.require_scheduling(old.namespace, 'namespace');
        end if;
        return old;
    end if;
    perform core_private.require_scheduling(new.namespace, 'namespace');
    if not v_new and new.namespace <> old.namespace then
        perform core_private.require_scheduling(old.namespace, 'namespace');
    end if;

    if v_new or new.cron_expression is distinct from old.cron_expression then
        new.spec := core_private.compile_cron(new.cron_expression);
        new.cron_expression := new.spec ->> 'expression';
    end if;
    new.timezone := coalesce(new.timezone, 'UTC');
    if v_new or new.timezone <> old.timezone then
        new.timezone := core_private.check_timezone(new.timezone);
    end if;
    if v_new or new.event_type is distinct from old.event_type then
        perform core_private.check_event_type(new.event_type, 'event_type');
    end if;
    perform core_private.check_payload(
        new.payload,
        (select n.max_payload_bytes from core.namespaces n where n.namespace = new.namespace),
        'payload');
    new.overlap := coalesce(new.overlap, case when new.spec ->> 'kind' = 'every' then 'skip' else 'allow' end);
    perform core_private.check_task_settings(new);

    new.updated_at := v_now;
    if v_new then
        new.job_id := null;
        new.created_at := v_now;
        new.next_slot := null;
        new.waiting_slot := null;
        new.last_slot := null;
        new.last_run_at := null;
    end if;
    if v_new
       or (new.namespace, new.event_type, new.payload, new.cron_expression, new.timezone)
          is distinct from
          (old.namespace, old.event_type, old.payload, old.cron_expression, old.timezone)
       or (new.active and not old.active) then
        new.registered_by := core_private.caller();
    end if;
    -- A share of the jitter that stays the same keeps slots in order and evenly apart.
    new.jitter_offset :=
        new.jitter * (('x' || left(md5(new.task_id::text), 8))::bit(32)::bigint / 4294967296.0)::double precision;
    if not new.active then
        new.next_slot := null;
        new.waiting_slot := null;
    elsif v_new or not old.active
          or (new.cron_expression, new.timezone, new.starts_at, new.ends_at)
             is distinct from
             (old.cron_expression, old.timezone, old.starts_at, old.ends_at) then
        new.next_slot := core_private.next_task_slot(
            new.spec, new.timezone, v_now, new.created_at, new.starts_at, new.ends_at);
    end if;
    new.next_run_at := new.next_slot + new.jitter_offset;
    new.failures := 0;
    new.last_error := null;
    return new;
end $$;
comment on function core_private.check_task() is 'Before a task is written: checks the caller and the values, compiles the expression, works out the next slot. Raises NX002, NX003, NX011, NX012, NX013, NX101, NX401, NX402, NX601.';
