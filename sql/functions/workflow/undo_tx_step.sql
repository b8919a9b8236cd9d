create or replace function core_node.undo_tx_step(
    p_run uuid, p_epoch integer, p_token uuid, p_key text, out outcome text, out next_key text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    select u.outcome, u.next_key
      into outcome, next_key
      from core_node.undo_step(p_run, p_epoch, p_token, p_key, 'done') u;
    if outcome = 'lost' then
        raise exception using errcode = 'NX301', column = 'p_token',
            message = format('run %s is in other hands', p_run), hint = 'Roll back; whoever has it now undoes it.';
    end if;
end $$;
comment on function core_node.undo_tx_step(uuid, integer, uuid, text) is 'For nodes: commits the compensation of p_key in the transaction that it has written in; outcomes as of core_node.undo_step. Raises 55000 unless the transaction is read committed, NX301 unless the caller holds the run.';
