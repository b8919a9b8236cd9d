create or replace function core_private.end_cancelled(p_run uuid, p_cancel text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_error  jsonb := (select r.error from core_private.workflow_runs r where r.run_id = p_run);
    v_ending text  := case p_cancel when 'timeout' then 'timed_out' else 'cancelled' end;
begin
    if p_cancel = 'plain' then
        perform core_private.end_run(p_run, v_ending, null, v_error, p_now);
    else
        perform core_private.begin_undo(p_run, v_ending, v_error, p_now);
    end if;
end $$;
comment on function core_private.end_cancelled(uuid, text, timestamptz) is 'Ends a run that is cancelled or has taken too long, now that no step of it runs any more.';
