-- Among many nothing is waited for: whoever cancels a run holds its cursor and wants its branches, which this call may
-- have.
create or replace function core_private.commit_refused(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_key text, p_ord text, p_result jsonb,
    p_undo text, p_op text, p_many boolean, p_now timestamptz, out outcome text, out detail text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cursor core_private.workflow_cursors;
begin
    select * into v_cursor from core_private.workflow_cursors c where c.run_id = p_run and c.path = p_path;
    if v_cursor.run_id is null then
        outcome := case when p_op in ('end', 'again') and exists (
                                select
                                  from core_private.workflow_runs r
                                 where r.run_id = p_run and r.status = 'completed')
                             and (p_key is null or exists (
                                select
                                  from core_private.workflow_journal j
                                 where j.run_id = p_run and j.key = p_key and j.status = 'c'))
                        then 'already' else 'lost' end;
        if outcome = 'already' and p_op = 'again' then
            detail := (select r.continued_as from core_private.workflow_runs r where r.run_id = p_run);
        end if;
        return;
    elsif core_private.is_committed(v_cursor, p_epoch, p_token, p_pos, p_run, p_key) then
        outcome := 'already';
        return;
    elsif v_cursor.epoch <> p_epoch or v_cursor.token is distinct from p_token or v_cursor.pos <> p_pos
          or v_cursor.state <> 'R' then
        outcome := 'lost';
        return;
    elsif not core_private.lock_run(p_run, not p_many) then
        outcome := 'busy';
        return;
    end if;
    select *
      into v_cursor
      from core_private.workflow_cursors c
     where c.run_id = p_run and c.path = p_path and c.epoch = p_epoch and c.token = p_token and c.pos = p_pos
       and c.state = 'R';
    if not found then
        outcome := 'lost';
    elsif v_cursor.cancel is null then
        outcome := 'busy';
    else
        if p_key is not null then
            perform core_private.journal_step(
                p_run, p_key, p_ord::integer[], 'c', p_result, null, 1, p_undo::jsonb, p_now);
        end if;
        perform core_private.leave_cancelled(p_run, p_path, v_cursor.cancel, p_now);
        outcome := 'cancelled';
    end if;
end $$;
comment on function core_private.commit_refused(uuid, text, integer, uuid, integer, text, text, jsonb, text, text, boolean, timestamptz) is 'Why a step was not committed; if it is since the run is to end, it is now, and the run ends.';
