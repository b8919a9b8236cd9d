create or replace function core_node.undo_step(
    p_run uuid, p_epoch integer, p_token uuid, p_key text, p_action text, p_after interval = null,
    p_policy jsonb = null, p_reason text = null, p_error text = null, out outcome text, out next_key text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_policy jsonb := core_private.check_retry(p_action, '{done,retry,reject,release}', p_after, p_policy);
begin
    perform core_private.require_read_committed('core_node.undo_step');
    perform
       from core_private.workflow_cursors c
      where c.run_id = p_run and c.path = '' and c.epoch = p_epoch and c.token = p_token and c.state = 'U'
        and c.wait_key = p_key
        for update;
    if not found then
        outcome := 'lost';
        return;
    end if;
    select u.outcome, u.next_key
      into outcome, next_key
      from core_private.undo_outcome(
               p_run, p_key, p_action, p_after, v_policy, p_reason, p_error, true, core_private.now()) u;
end $$;
comment on function core_node.undo_step(uuid, integer, uuid, text, text, interval, jsonb, text, text) is 'For nodes: what came of the compensation of p_key, in a run that they hold. p_action: done, retry (by p_policy, or after p_after), reject, release. Outcomes: next: the lease goes on with that of next_key; ended: that was the last; released: the lease is given back, also since the next one is in SQL; retried; stuck: it failed for good, the run is compensation_failed, and there is a dead letter; lost. Raises 55000 unless the transaction is read committed, NX005, NX006, NX007.';
