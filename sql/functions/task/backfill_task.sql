-- What the ledger has as missed or not at all is fired; what is due at this moment and not fired yet, too, and then not
-- again.
create or replace function core.backfill_task(p_task_id uuid, p_from timestamptz, p_to timestamptz)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_task  core.scheduled_tasks := core_private.lock_active_task(p_task_id);
    v_keep  timestamptz := v_now - (select s.keep_slots from core_private.scheduler s);
    v_to    timestamptz := least(p_to, v_now);
    v_slot  timestamptz := p_from - interval '1 microsecond';
    v_slots timestamptz[] := '{}';
    v_ids   bigint[];
    v_uids  uuid[];
    v_max   constant integer := 1000;
begin
    if p_from is null or p_to is null or p_to <= p_from or p_from < '0001-01-01 00:00:00Z' then
        raise exception using errcode = 'NX013', column = 'p_to',
            message = format('no slot lies between %s and %s',
                             coalesce(p_from::text, 'NULL'), coalesce(p_to::text, 'NULL')),
            hint = 'Give the first time, and a later one that is not backfilled any more.';
    end if;
    -- Further back nobody knows what has fired; before the task was made nothing has.
    if p_from < v_keep and v_to > v_task.created_at and v_task.created_at < v_keep then
        raise exception using errcode = 'NX013', column = 'p_from',
            message = format('what fired before %s is forgotten', v_keep),
            hint = 'Begin later; keep_slots of core.alter_scheduler says how long slots are remembered.';
    end if;
    loop
        v_slot := core_private.next_task_slot(
            v_task.spec, v_task.timezone, v_slot, v_task.created_at, v_task.starts_at, v_task.ends_at);
        exit when v_slot is null or v_slot >= v_to;
        if cardinality(v_slots) = v_max then
            raise exception using errcode = 'NX013', column = 'p_to',
                message = format('more than %s slots lie between %s and %s', v_max, p_from, p_to),
                hint = 'Backfill less at a time.';
        end if;
        v_slots := v_slots || v_slot;
    end loop;
    perform pg_current_xact_id();
    with ledger as (
        insert into core.task_slots as l (
            task_id, slot, namespace, status, reason, event_id, event_uid, recorded_at, lateness)
        select p_task_id, u.slot, v_task.namespace, 'fired', 'backfill',
               nextval('core.event_id_seq'), core_private.slot_uid(p_task_id, u.slot), v_now, v_now - u.slot
          from unnest(v_slots) u(slot)
        on conflict (task_id, slot) do update
           set status = 'fired', reason = 'backfill',
               event_id = excluded.event_id, event_uid = excluded.event_uid,
               recorded_at = v_now, lateness = excluded.lateness, until = null
         where l.status = 'missed'
        returning l.slot, l.event_id, l.event_uid)
    select array_agg(l.slot), array_agg(l.event_id), array_agg(l.event_uid)
      into v_slots, v_ids, v_uids
      from ledger l;
    if v_ids is null then
        return 0;
    end if;
    perform core_private.emit_slots(
        v_task.namespace, array_fill(p_task_id, array[cardinality(v_ids)]), v_slots, v_ids, v_uids, v_now);
    perform core_private.audit('backfill_task', v_task.namespace, v_task.name, null,
        jsonb_build_object('from', p_from, 'to', p_to, 'fired', cardinality(v_ids)));
    return cardinality(v_ids);
end $$;
comment on function core.backfill_task(uuid, timestamptz, timestamptz) is 'Fires the slots from p_from up to p_to, at most to now and 1,000 of them, that have not fired or been skipped; returns how many. Overlap policies are not asked. Raises NX013, NX108, NX401, NX402.';

create or replace function core.backfill_task(p_namespace text, p_name text, p_from timestamptz, p_to timestamptz)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core.backfill_task(core_private.task_named(p_namespace, p_name), p_from, p_to);
end $$;
comment on function core.backfill_task(text, text, timestamptz, timestamptz) is 'core.backfill_task of the task of that name. Raises NX013, NX101, NX108, NX401, NX402.';
