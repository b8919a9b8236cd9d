-- The way that most commits take, with as few expressions as can be: what each of them costs is to be set up in each
-- transaction. Whatever is not as usual goes the way of many. The token is compared as there, so that the cursor is
-- looked up by its key. To look for a row that may be there costs as much as to write one, so the caller says where
-- there is none: he has had the journal with his claim, and nobody else writes rows of the step that he holds.
create or replace function core_node.commit_step(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_result text, p_undo text = null, p_op text = 'next', p_output text = null,
    p_first boolean = false)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if p_op = 'next' then
        update core_private.workflow_cursors c
           set pos = c.pos + 1, entered = p_entered, attempt = 0, deaths = 0
         where c.run_id = p_run and c.path = p_path and c.epoch = p_epoch and c.pos = p_pos
           and c.token is not distinct from p_token and p_token is not null
           and c.state = 'R' and c.cancel is null and core_private.is_plain_json(p_result, c.plain_bytes)
           and p_key is not null and current_setting('transaction_isolation') = 'read committed';
    elsif p_op = 'end' then
        delete from core_private.workflow_cursors c
         where c.run_id = p_run and c.path = '' and c.epoch = p_epoch and c.pos = p_pos
           and c.token is not distinct from p_token and p_token is not null
           and c.state = 'R' and c.cancel is null and p_path = ''
           and core_private.is_plain_json(coalesce(p_result, 'null'), c.plain_bytes)
           and core_private.is_plain_json(p_output, c.plain_bytes)
           and current_setting('transaction_isolation') = 'read committed';
    end if;
    if not found then
        return (
            select s.outcome || coalesce(': ' || s.detail, '')
              from core_node.commit_steps(
                       array[p_run], array[p_path], array[p_epoch], array[p_token], array[p_pos], array[p_entered],
                       array[p_key], array[p_ord::text], array[p_result], array[p_undo], array[p_op],
                       array[p_output]) s);
    elsif p_first then
        insert into core_private.workflow_journal (run_id, key, ord, status, result, completed_at, undo)
        values (p_run, p_key, p_ord, 'c', p_result::jsonb, core_private.now(), p_undo::jsonb);
    elsif p_key is not null then
        insert into core_private.workflow_journal as j (run_id, key, ord, status, result, completed_at, undo)
        values (p_run, p_key, p_ord, 'c', p_result::jsonb, core_private.now(), p_undo::jsonb)
        on conflict (run_id, key) do update
           set status = 'c', result = excluded.result, error = null, attempts = j.attempts + 1,
               completed_at = excluded.completed_at, undo = coalesce(excluded.undo, j.undo);
    end if;
    if p_op = 'end' then
        update core_private.workflow_runs r
           set status = 'completed', result = p_output::jsonb, finished_at = core_private.now(),
               updated_at = core_private.now()
         where r.run_id = p_run and r.parent_run_id is null;
        if not found then
            perform core_private.end_run(p_run, 'completed', p_output::jsonb, null, core_private.now());
        end if;
    end if;
    return 'ok';
end $$;
comment on function core_node.commit_step(uuid, text, integer, uuid, integer, integer, text, integer[], text, text, text, text, boolean) is 'For nodes: commits one step of a run that they hold: core_node.commit_steps with one, at less cost. Says ok, already, lost, cancelled or too_big, followed by a colon, a blank and the detail where there is one. p_first: the claim said nothing of the step, and the journal has no row of it, so none is looked for; where there is one after all 23505 is raised. Raises 55000 unless the transaction is read committed, NX006.';
