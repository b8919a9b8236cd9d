-- The way that most commits take, with as few expressions as can be: what each of them costs is to be set up in each
-- transaction. Whatever is not as usual goes the way of many.
create or replace function core_node.commit_step(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_result text, p_undo text = null, out outcome text, out detail text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_value record;
begin
    if octet_length(p_result) >= 200 or strpos(p_result, E'\\u0000') > 0 then
        v_value := core_private.stored_value(p_result, core_private.max_stored(p_run));
        if v_value.why is not null then
            outcome := 'too_big';
            detail := v_value.why;
            return;
        end if;
    end if;
    update core_private.workflow_cursors c
       set pos = c.pos + 1, entered = p_entered, attempt = 0, deaths = 0
     where c.run_id = p_run and c.path = p_path and c.epoch = p_epoch and c.token = p_token and c.pos = p_pos
       and c.state = 'R' and c.cancel is null
       and current_setting('transaction_isolation') = 'read committed';
    if found then
        insert into core_private.workflow_journal as j (run_id, key, ord, status, result, completed_at, undo)
        values (p_run, p_key, p_ord, 'c', p_result::jsonb, core_private.now(), p_undo::jsonb)
        on conflict (run_id, key) do update
           set status = 'c', result = excluded.result, error = null, attempts = j.attempts + 1,
               completed_at = excluded.completed_at, undo = coalesce(excluded.undo, j.undo);
        outcome := 'ok';
        return;
    end if;
    select s.outcome, s.detail
      into outcome, detail
      from core_node.commit_steps(
               array[p_run], array[p_path], array[p_epoch], array[p_token], array[p_pos], array[p_entered],
               array[p_key], array[p_ord::text], array[p_result], array[p_undo], array['next'], array[null]) s;
end $$;
comment on function core_node.commit_step(uuid, text, integer, uuid, integer, integer, text, integer[], text, text) is 'For nodes: commits one step of a run that they hold, whose lease goes on: core_node.commit_steps with one of op next, at less cost. Outcomes: ok, already, lost, cancelled, too_big. Raises 55000 unless the transaction is read committed, NX006.';
