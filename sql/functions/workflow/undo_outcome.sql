-- The caller holds the cursor of the run, which stands at p_key.
create or replace function core_private.undo_outcome(
    p_run uuid, p_key text, p_action text, p_after interval, p_policy jsonb, p_reason text, p_error text,
    p_hold boolean, p_now timestamptz, out outcome text, out next_key text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_cursor   core_private.workflow_cursors;
    v_run      core_private.workflow_runs;
    v_attempts integer;
    v_max      integer := (p_policy ->> 'max_attempts')::integer;
    v_error    jsonb;
    v_due      timestamptz;
    v_next     record;
begin
    select * into v_cursor from core_private.workflow_cursors c where c.run_id = p_run and c.path = '';
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run;
    if p_action = 'done' then
        perform core_private.journal_step(
            p_run, p_key || '~undo', v_cursor.wait_ord, 'c', null, null, v_cursor.attempt + 1, null, p_now);
        v_next := core_private.point_to_undo(p_run, p_hold, p_now);
        if v_next.key is null then
            perform core_private.end_run(p_run, v_run.ending, null, v_run.error, p_now);
            outcome := 'ended';
        elsif v_next.in_sql or not p_hold then
            outcome := 'released';
        else
            outcome := 'next';
            next_key := v_next.key;
        end if;
        return;
    end if;
    v_attempts := v_cursor.attempt + (p_action <> 'release')::integer;
    if p_action = 'release' or p_action = 'retry' and (v_max < 0 or v_attempts < v_max) then
        v_due := p_now + coalesce(p_after, case when p_action = 'release' then interval '1 second'
                                                else core_node.retry_delay(p_policy, v_attempts) end);
        update core_private.workflow_cursors c
           set token = null, attempt = v_attempts, deaths = 0,
               due_at = case when c.state = 'U' then v_due end, sql_due_at = case when c.state = 'S' then v_due end
         where c.run_id = p_run and c.path = '';
        outcome := case p_action when 'release' then 'released' else 'retried' end;
    end if;
    if p_action <> 'release' then
        v_error := jsonb_build_object(
            'step', p_key, 'reason', coalesce(left(core_private.clean_text(p_reason), 1000), 'error'),
            'error', left(core_private.clean_text(coalesce(p_error, p_reason)), 8192));
        perform core_private.journal_step(
            p_run, p_key || '~undo', v_cursor.wait_ord, (case when outcome is null then 'f' else 'p' end)::"char", null,
            v_error, v_attempts, null, p_now);
    end if;
    if outcome is null then
        perform core_private.bury_compensation(p_run, p_key, v_attempts, v_error, v_cursor.node_id, p_now);
        perform core_private.end_run(
            p_run, 'compensation_failed', null,
            coalesce(v_run.error, '{}') || jsonb_build_object('compensation', v_error), p_now);
        outcome := 'stuck';
    end if;
end $$;
comment on function core_private.undo_outcome(uuid, text, text, interval, jsonb, text, text, boolean, timestamptz) is 'What came of undoing a step: next (under the lease that goes on with p_hold), released, ended, retried or stuck.';
