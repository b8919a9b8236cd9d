-- Most calls find one slot, on time, and return at once. Slots older than misfire_after are misfires; the newest of
-- them are found from the end, in windows that grow, so that a year of missed minutes costs no more than an hour. At
-- most 100 slots a call: what is left over is due again.
create or replace function core_private.plan_slots(p_task core.scheduled_tasks, p_now timestamptz)
returns core_private.slot_plan
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_plan    core_private.slot_plan;
    v_due     timestamptz := p_now - p_task.jitter_offset;
    v_late    timestamptz := p_now - p_task.jitter_offset - p_task.misfire_after;
    v_on_time timestamptz[] := '{}';
    v_old     timestamptz[] := '{}';
    v_keep    integer := 0;
    v_window  interval;
    v_from    timestamptz;
    v_slot    timestamptz;
    v_max     constant integer := 100;
    v_step    constant interval := interval '1 microsecond';
begin
    v_slot := core_private.next_task_slot(
        p_task.spec, p_task.timezone, p_task.next_slot, p_task.created_at, p_task.starts_at, p_task.ends_at);
    if (v_slot is null or v_slot > v_due) and p_task.next_slot >= v_late then
        v_plan.slots := array[p_task.next_slot];
        v_plan.statuses := '{fired}';
        v_plan.next_slot := v_slot;
        return v_plan;
    end if;

    if p_task.next_slot >= v_late then
        v_slot := p_task.next_slot;
    else
        v_slot := core_private.next_task_slot(
            p_task.spec, p_task.timezone, v_late - v_step, p_task.created_at, p_task.starts_at, p_task.ends_at);
    end if;
    if v_slot <= v_due and p_task.spec ? 'seconds' and p_task.misfire <> 'backfill' then
        -- Late ticks of an interval are one, the newest.
        v_from := core_private.next_task_slot(
            p_task.spec, p_task.timezone,
            greatest(v_slot - v_step, v_due - make_interval(secs => (p_task.spec ->> 'seconds')::bigint)),
            p_task.created_at, p_task.starts_at, p_task.ends_at);
        v_slot := case when v_from <= v_due then v_from else v_slot end;
    end if;
    while v_slot <= v_due and cardinality(v_on_time) < v_max loop
        v_on_time := v_on_time || v_slot;
        v_slot := core_private.next_task_slot(
            p_task.spec, p_task.timezone, v_slot, p_task.created_at, p_task.starts_at, p_task.ends_at);
    end loop;
    v_plan.next_slot := v_slot;

    if p_task.next_slot < v_late then
        v_keep := case p_task.misfire
                       when 'skip' then 0
                       when 'fire_once' then case when v_on_time = '{}' then 1 else 0 end
                       else least(p_task.backfill, v_max) end;
        v_window := interval '1 minute' * v_keep;
        while v_keep > 0 loop
            v_from := greatest(p_task.next_slot, v_late - v_window);
            v_slot := v_from - v_step;
            v_old := '{}';
            loop
                v_slot := core_private.next_task_slot(
                    p_task.spec, p_task.timezone, v_slot, p_task.created_at, p_task.starts_at, p_task.ends_at);
                exit when v_slot is null or v_slot >= v_late;
                v_old := v_old || v_slot;
                if cardinality(v_old) > v_keep then
                    v_old := v_old[2:];
                end if;
            end loop;
            exit when cardinality(v_old) >= v_keep or v_from = p_task.next_slot;
            v_window := v_window * 4;
        end loop;
    end if;
    v_plan.slots := v_old || v_on_time;
    v_plan.statuses := array_fill('caught_up'::text, array[cardinality(v_old)])
                       || array_fill('fired'::text, array[cardinality(v_on_time)]);
    if v_plan.slots = '{}' or v_plan.slots[1] > p_task.next_slot then
        v_plan.missed_from := p_task.next_slot;
        v_plan.missed_to := coalesce(v_plan.slots[1], v_late);
    end if;
    return v_plan;
end $$;
comment on function core_private.plan_slots(core.scheduled_tasks, timestamptz) is 'What becomes of the due slots of a task whose next slot is due.';
