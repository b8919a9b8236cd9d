-- The caller holds the run's cursor, and no branch is left.
create or replace function core_private.begin_undo(p_run uuid, p_ending text, p_error jsonb, p_now timestamptz)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if (core_private.point_to_undo(p_run, false, p_now)).key is null then
        perform core_private.end_run(p_run, p_ending, null, p_error, p_now);
        return p_ending;
    end if;
    update core_private.workflow_runs r
       set status = 'compensating', error = p_error, ending = p_ending, updated_at = p_now
     where r.run_id = p_run;
    perform core_private.wake_workflows(
        (select r.namespace from core_private.workflow_runs r where r.run_id = p_run), p_now);
    return 'compensating';
end $$;
comment on function core_private.begin_undo(uuid, text, jsonb, timestamptz) is 'Begins to undo what a run has done, which then ends as p_ending; if there is nothing to undo it ends now. Returns its status.';
