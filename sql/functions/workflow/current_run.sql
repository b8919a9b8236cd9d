create or replace function core_private.current_run(p_run uuid)
returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_first uuid;
    v_next  uuid;
begin
    select r.first_run_id, r.continued_as
      into v_first, v_next
      from core_private.workflow_runs r
     where r.run_id = p_run;
    if v_next is null then
        return p_run;
    end if;
    return (
        select r.run_id
          from core_private.workflow_runs r
         where r.first_run_id = coalesce(v_first, p_run) and r.continued_as is null);
end $$;
comment on function core_private.current_run(uuid) is 'The newest of the runs that this one goes on as; itself if it was not continued.';
