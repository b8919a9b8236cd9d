create or replace function core_node.fail_undo(p_run uuid, p_epoch integer, p_token uuid, p_error text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz;
    v_cursor core_private.workflow_cursors;
    v_undo   jsonb;
begin
    perform core_private.require_sql_login('core_node.fail_undo');
    perform core_private.refuse_used_transaction();
    select *
      into v_cursor
      from core_private.workflow_cursors c
     where c.run_id = p_run and c.path = '' and c.epoch = p_epoch and c.token = p_token and c.state = 'S'
       for update;
    if not found then
        return 'lost';
    end if;
    v_now := core_private.now();
    v_undo := (select j.undo
                 from core_private.workflow_journal j
                where j.run_id = p_run and j.key = v_cursor.wait_key);
    return (core_private.undo_outcome(
        p_run, v_cursor.wait_key, 'retry', null,
        core_private.workflow_retry() || coalesce(v_undo -> 'policy', '{}'), 'commit', p_error, false, v_now)).outcome;
end $$;
comment on function core_node.fail_undo(uuid, integer, uuid, text) is 'For nexus_sql: a compensation failed, where the transaction of core_node.run_undo could not be committed: retried, stuck or lost. Raises 25001, 55000, NX401.';
