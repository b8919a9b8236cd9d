-- A node that has the undoing of a step in hand finds its lease lost.
create or replace function core_private.give_up_undo(p_run uuid, p_reason text, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run    core_private.workflow_runs;
    v_cursor core_private.workflow_cursors;
    v_error  jsonb;
begin
    perform core_private.lock_run(p_run);
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run and r.status = 'compensating';
    select * into v_cursor from core_private.workflow_cursors c where c.run_id = p_run and c.path = '';
    if v_run.run_id is null or v_cursor.run_id is null then
        return false;
    end if;
    v_error := jsonb_build_object(
        'step', v_cursor.wait_key, 'reason', 'cancelled', 'error', left(core_private.clean_text(p_reason), 8192));
    perform core_private.journal_step(
        p_run, v_cursor.wait_key || '~undo', v_cursor.wait_ord, 'f', null, v_error, v_cursor.attempt, null, p_now);
    perform core_private.bury_compensation(
        p_run, v_cursor.wait_key, v_cursor.attempt, v_error, v_cursor.node_id, p_now);
    perform core_private.end_run(
        p_run, 'compensation_failed', null,
        coalesce(v_run.error, '{}') || jsonb_build_object('compensation', v_error), p_now);
    return true;
end $$;
comment on function core_private.give_up_undo(uuid, text, timestamptz) is 'Ends a run that is being undone as compensation_failed, with a dead letter, whatever attempts are left; false where it is not.';
