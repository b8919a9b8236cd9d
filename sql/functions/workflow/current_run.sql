create or replace function core_private.current_run(p_run uuid)
returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_next uuid;
begin
    loop
        v_next := (select r.continued_as from core_private.workflow_runs r where r.run_id = p_run);
        exit when v_next is null;
        p_run := v_next;
    end loop;
    return p_run;
end $$;
comment on function core_private.current_run(uuid) is 'The run that this one goes on as; itself if it was not continued.';
