-- Who has no duty in a restricted namespace learns no more of its runs than of those that are not there.
create or replace function core_private.run_named(p_run_id uuid, p_duties text[])
returns core_private.workflow_runs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run        core_private.workflow_runs;
    v_restricted boolean;
begin
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run_id;
    if v_run.run_id is null or core_private.is_hidden(v_run.namespace) then
        return null;
    end if;
    select n.restricted into v_restricted from core.namespaces n where n.namespace = v_run.namespace;
    if not exists (
           select from unnest(p_duties) d where core_private.has_duty(v_run.namespace, d, v_restricted)) then
        perform core_private.require_duty(v_run.namespace, p_duties[1], 'p_run_id');
    end if;
    return v_run;
end $$;
comment on function core_private.run_named(uuid, text[]) is 'A run, for a caller who has one of the duties; a row of NULLs if it is unknown or hidden. Raises NX401, NX402.';
