-- The last statement of a transaction in which a step has written: where it does not commit the step, the transaction
-- must not either.
create or replace function core_node.commit_tx_step(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_result jsonb = null, p_undo jsonb = null, p_op text = 'next', p_output jsonb = null,
    p_first boolean = false, out outcome text, out detail text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_said text;
begin
    if p_op = 'branch' then
        select e.outcome, e.next_path
          into outcome, detail
          from core_node.end_branch(p_run, p_path, p_epoch, p_token, p_pos, p_key, p_ord, p_result, p_undo) e;
    elsif p_op in ('next', 'end') then
        v_said := core_node.commit_step(
            p_run, p_path, p_epoch, p_token, p_pos, p_entered, p_key, p_ord, coalesce(p_result, 'null')::text,
            p_undo::text, p_op, p_output::text, p_first);
        outcome := split_part(v_said, ': ', 1);
        detail := nullif(substr(v_said, length(outcome) + 3), '');
    else
        select c.outcome, c.detail
          into outcome, detail
          from core_node.commit_steps(
                   array[p_run], array[p_path], array[p_epoch], array[p_token], array[p_pos], array[p_entered],
                   array[p_key], array[p_ord::text], array[coalesce(p_result, 'null')::text], array[p_undo::text],
                   array[p_op], array[p_output::text]) c;
    end if;
    if outcome = 'too_big' then
        raise exception using errcode = 'NX601', column = 'p_result',
            message = format('step %s: %s', left(p_key, 100), detail), hint = 'Keep it elsewhere, and return where.';
    elsif outcome in ('lost', 'already', 'busy') then
        raise exception using errcode = 'NX301', column = 'p_token',
            message = format('step %s of run %s is in other hands', left(p_key, 100), p_run),
            hint = 'Roll back; whoever has the run now goes on with it.';
    end if;
end $$;
comment on function core_node.commit_tx_step(uuid, text, integer, uuid, integer, integer, text, integer[], jsonb, jsonb, text, jsonb, boolean) is 'For nodes: commits a step in the transaction that it has written in. p_op as in core_node.commit_steps, or branch: the last step of a branch, as core_node.end_branch has it. p_first as in core_node.commit_step. Raises 55000 unless the transaction is read committed, NX006, NX301 unless the caller holds the run, NX601.';
