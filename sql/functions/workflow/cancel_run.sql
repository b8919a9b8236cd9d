-- What waits ends here. What is leased goes on to the end of its step, and the last one ends the run. Children go
-- first: a parent that is over does not wait for them.
create or replace function core_private.cancel_run(p_run uuid, p_cancel text, p_error jsonb, p_now timestamptz)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_root  core_private.workflow_cursors;
    v_open  integer;
    v_child uuid;
begin
    perform core_private.lock_run(p_run);
    select * into v_root from core_private.workflow_cursors c where c.run_id = p_run and c.path = '';
    if v_root.run_id is null then
        return 'already_finished';
    elsif v_root.state in ('U', 'S') then
        return case when exists (
                             select
                               from core_private.workflow_runs r
                              where r.run_id = p_run and r.ending = 'cancelled')
                    then 'cancelled' else 'compensating' end;
    elsif v_root.cancel is not null then
        return 'cancelled';
    end if;
    update core_private.workflow_runs r set error = p_error, updated_at = p_now where r.run_id = p_run;
    for v_child in
        select r.run_id
          from core_private.workflow_runs r
         where r.parent_run_id = p_run and r.finished_at is null
         order by r.run_id
    loop
        perform core_private.cancel_run(v_child, case p_cancel when 'timeout' then 'compensate' else p_cancel end,
                                        p_error, p_now);
    end loop;
    delete from core_private.workflow_cursors c
     where c.run_id = p_run and c.path <> '' and (c.token is null or c.due_at <= p_now);
    update core_private.workflow_cursors c set cancel = p_cancel where c.run_id = p_run and c.path <> '';
    get diagnostics v_open = row_count;
    if v_open > 0 then
        update core_private.workflow_cursors c
           set cancel = p_cancel, state = 'J', open = v_open, due_at = null, token = null
         where c.run_id = p_run and c.path = '';
    elsif v_root.token is not null and v_root.due_at > p_now then
        update core_private.workflow_cursors c set cancel = p_cancel where c.run_id = p_run and c.path = '';
    else
        perform core_private.end_cancelled(p_run, p_cancel, p_now);
    end if;
    return 'cancelled';
end $$;
comment on function core_private.cancel_run(uuid, text, jsonb, timestamptz) is 'Ends a run and its children, at once or as soon as the steps in hand are over: cancelled; compensating or already_finished.';
