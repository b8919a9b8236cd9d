-- Who starts runs may not read the views, and waits for the end all the same.
create or replace function core.workflow_outcome(
    p_run_id uuid, out run_id uuid, out status text, out result jsonb, out error jsonb, out finished_at timestamptz)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_run core_private.workflow_runs;
begin
    v_run := core_private.run_named(core_private.current_run(p_run_id), '{produce,consume,operate}');
    if v_run.run_id is null then
        perform core_private.fail_unknown_run(p_run_id);
    end if;
    run_id := v_run.run_id;
    status := v_run.status;
    result := v_run.result;
    error := v_run.error;
    finished_at := v_run.finished_at;
end $$;
comment on function core.workflow_outcome(uuid) is 'How a run ended: status (open or compensating while it has not), result, error with step, reason and error. Of a run that went on as a new one that of the newest, whose id is run_id. Raises NX117, NX401, NX402.';
