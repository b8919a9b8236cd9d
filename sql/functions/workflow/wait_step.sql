-- The cursor is held before the inbox is looked at, by a statement of its own: a signal that is not seen here finds the
-- wait.
create or replace function core_node.wait_step(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_kind text, p_for interval = null, p_until timestamptz = null, p_signal text = null,
    out outcome text, out result jsonb)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_held record;
    v_now  timestamptz;
    v_due  timestamptz;
begin
    perform core_private.check_fence_step(p_key, p_ord);
    if p_kind is null or p_kind not in ('sleep', 'until', 'signal') or p_kind = 'sleep' and p_for is null
       or p_kind = 'until' and p_until is null or p_kind = 'signal' and p_signal is null then
        raise exception using errcode = 'NX006', column = 'p_kind',
            message = format('p_kind cannot be %s', quote_nullable(left(p_kind, 100))),
            hint = 'Give sleep with p_for, until with p_until, or signal with p_signal.';
    end if;
    if p_for not between interval '-30 years' and interval '30 years' then
        raise exception using errcode = 'NX006', column = 'p_for',
            message = format('step %s cannot wait for %s', left(p_key, 100), p_for), hint = 'Wait up to 30 years.';
    end if;
    v_held := core_private.hold_cursor(p_run, p_path, p_epoch, p_token, p_pos, p_key);
    v_now := core_private.now();
    v_due := case p_kind when 'until' then p_until else v_now + p_for end;
    if v_due > v_now + interval '30 years' then
        raise exception using errcode = 'NX006', column = 'p_until',
            message = format('step %s cannot wait until %s', left(p_key, 100), v_due), hint = 'Wait up to 30 years.';
    end if;
    if v_held.outcome = 'cancelled' then
        perform core_private.leave_cancelled(p_run, p_path, (v_held.held).cancel, v_now);
    end if;
    if v_held.outcome <> 'ok' then
        outcome := case v_held.outcome when 'cancelled' then 'cancelled' when 'already' then 'go' else 'lost' end;
        result := (select j.result
                     from core_private.workflow_journal j
                    where outcome = 'go' and j.run_id = p_run and j.key = p_key);
        return;
    end if;
    update core_private.workflow_cursors c
       set state = case p_kind when 'signal' then 'W' else 'T' end, due_at = v_due,
           entered = coalesce(p_entered, c.entered),
           waiting_for = p_signal, wait_key = p_key, wait_ord = p_ord, attempt = 0, deaths = 0,
           token = null
     where c.run_id = p_run and c.path = p_path;
    if p_kind <> 'signal' then
        perform core_private.journal_step(
            p_run, p_key, p_ord, 'p', jsonb_build_object('until', core_private.iso(v_due)), null, 0, null, v_now);
    end if;
    if p_kind = 'signal' and core_private.end_waits(array[p_run], p_path, v_now) = 0 and v_due <= v_now
       or p_kind <> 'signal' and v_due <= v_now then
        perform core_private.end_timed_waits(array[p_run], array[p_path], v_now);
    end if;
    -- It goes on at once: under the lease that there was.
    update core_private.workflow_cursors c
       set token = p_token, due_at = (v_held.held).due_at
     where c.run_id = p_run and c.path = p_path and c.state = 'R';
    if not found then
        outcome := 'waits';
        return;
    end if;
    outcome := 'go';
    result := (select j.result from core_private.workflow_journal j where j.run_id = p_run and j.key = p_key);
end $$;
comment on function core_node.wait_step(uuid, text, integer, uuid, integer, integer, text, integer[], text, interval, timestamptz, text) is 'For nodes: a step of a run that they hold waits: sleep for p_for, until p_until, or for a signal, for p_for or for ever. Outcomes: waits (and the lease is given back); go (it is over at once and journaled, pos is one more, and the lease goes on): result is {"payload": …} of the signal, null where its time was over; cancelled; lost. The time stands in the journal, as until. Raises 55000 unless the transaction is read committed, NX006.';
