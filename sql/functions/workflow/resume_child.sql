-- The parent is held before, as whoever locks a tree of runs does it. What was undone is begun anew, as is what
-- had no time left or is not kept any more.
create or replace function core_private.resume_child(p_run uuid, p_key text, p_now timestamptz)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_child core_private.workflow_runs;
begin
    select l.*
      into v_child
      from core_private.workflow_runs l
     where l.run_id = core_private.current_run((
               select r.run_id
                 from core_private.workflow_runs r
                where r.parent_run_id = p_run and r.parent_key = p_key and r.continued_from is null
                order by r.parent_attempt desc
                limit 1))
       and l.status = 'failed' and (l.timeout_at is null or l.timeout_at > l.finished_at)
       and not exists (
           select
             from core_private.workflow_journal j
            where j.run_id = l.run_id and right(j.key, 5) = '~undo' and j.status = 'c');
    return case when core_private.resume_run(v_child.run_id, p_now) then v_child.answers end;
end $$;
comment on function core_private.resume_child(uuid, text, timestamptz) is 'Has the last child of a step go on from where it failed, and returns the id under which its parent waits for it; NULL where there is none to go on with, so that the step begins another one.';
