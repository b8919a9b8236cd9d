-- Claimed and committed before it runs, so that a death of the session is counted.
create or replace function core_node.claim_undo(p_namespace text = null)
returns table (run_id uuid, epoch integer, token uuid, owner oid)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now    timestamptz;
    v_cursor core_private.workflow_cursors;
begin
    perform core_private.require_sql_login('core_node.claim_undo');
    perform core_private.refuse_used_transaction();
    v_now := core_private.now();
    select c.*
      into v_cursor
      from core_private.workflow_cursors c
     where c.sql_due_at <= v_now
       and (p_namespace is null or exists (
           select
             from core_private.workflow_runs r
            where r.run_id = c.run_id and r.namespace = p_namespace))
     order by c.sql_due_at
     limit 1
       for update skip locked;
    if not found then
        return;
    end if;
    if v_cursor.token is not null and v_cursor.deaths >= 10 then
        perform core_private.undo_outcome(
            v_cursor.run_id, v_cursor.wait_key, 'reject', null, core_private.workflow_retry(), 'process died',
            'the session ended eleven times while the function ran', false, v_now);
        return;
    end if;
    update core_private.workflow_cursors c
       set epoch = c.epoch + 1, token = gen_random_uuid(), node_id = 'nexus_sql',
           sql_due_at = v_now + interval '6 minutes', deaths = c.deaths + (c.token is not null)::integer
     where c.run_id = v_cursor.run_id and c.path = ''
    returning c.run_id, c.epoch, c.token into run_id, epoch, token;
    owner := (core_private.undo_function(v_cursor.def_id, v_cursor.wait_key)).owner;
    return next;
end $$;
comment on function core_node.claim_undo(text) is 'For nexus_sql: leases a run whose next compensation is a function in SQL, in that namespace or in any: one row with the fence and the function''s owner, none where nothing is due. Raises 25001, 55000, NX401.';
