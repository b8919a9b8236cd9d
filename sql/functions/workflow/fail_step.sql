-- A step that is undone though it failed has been begun: code that lacks it could not undo it.
create or replace function core_node.fail_step(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_action text, p_after interval = null, p_policy jsonb = null, p_reason text = null,
    p_error text = null, p_undo jsonb = null, out outcome text, out due_at timestamptz)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_policy   jsonb := core_private.check_retry(p_action, '{retry,reject,release}', p_after, p_policy);
    v_held     record := core_private.hold_cursor(p_run, p_path, p_epoch, p_token, p_pos, p_key);
    v_cursor   core_private.workflow_cursors := v_held.held;
    v_now      timestamptz := core_private.now();
    v_attempts integer := v_cursor.attempt + (p_action <> 'release')::integer;
    v_max      integer := (v_policy ->> 'max_attempts')::integer;
    v_error    jsonb := jsonb_build_object(
        'step', p_key, 'reason', coalesce(left(core_private.clean_text(p_reason), 1000), 'error'),
        'error', left(core_private.clean_text(coalesce(p_error, p_reason)), 8192));
    v_entered  integer := greatest(
        p_entered, case when p_undo @> '{"on_failure": true}' then p_ord[1] + 1 end);
    v_final    boolean := p_action = 'reject' or p_action = 'retry' and v_max > 0 and v_attempts >= v_max;
begin
    if v_held.outcome not in ('ok', 'cancelled') then
        outcome := 'lost';
        return;
    end if;
    if p_action <> 'release' or v_held.outcome = 'cancelled' and p_undo is not null then
        -- A child that failed is begun anew by the next attempt.
        perform core_private.journal_step(
            p_run, p_key, p_ord, (case when v_final then 'f' else 'p' end)::"char",
            (select j.result - '{child,child_failed}'::text[]
               from core_private.workflow_journal j
              where j.run_id = p_run and j.key = p_key and j.status = 'p' and jsonb_typeof(j.result) = 'object'),
            v_error, v_attempts, p_undo, v_now);
        if p_undo is not null then
            update core_private.workflow_cursors c
               set entered = greatest(c.entered, v_entered)
             where c.run_id = p_run and c.path = p_path;
        end if;
    end if;
    if v_held.outcome = 'cancelled' then
        perform core_private.leave_cancelled(p_run, p_path, v_cursor.cancel, v_now);
        outcome := 'cancelled';
    elsif v_final then
        perform core_private.run_failed(p_run, p_path, v_error, v_now);
        outcome := 'failed';
    else
        due_at := v_now + case when p_after is not null then p_after
                               when p_action = 'release' then interval '1 second'
                               else core_node.retry_delay(v_policy, v_attempts) end;
        perform core_private.give_back(v_cursor, due_at, p_action = 'retry', v_entered);
        outcome := case p_action when 'release' then 'released' else 'retried' end;
    end if;
end $$;
comment on function core_node.fail_step(uuid, text, integer, uuid, integer, integer, text, integer[], text, interval, jsonb, text, text, jsonb) is 'For nodes: a step of a run that they hold did not come to its end. p_action: retry (by p_policy, or after p_after), reject (no further attempt), release (no attempt is used; a second if p_after says nothing). p_policy has keys of retry policies; by default 3 attempts, 1 s doubling to 60 s. p_undo with on_failure: the step is undone though it failed, as it may have happened. Outcomes: retried or released, with when it is due; failed: the run is undone, or its branch has failed; cancelled: the run ends; lost. Raises 55000 unless the transaction is read committed, NX005, NX006, NX007.';
