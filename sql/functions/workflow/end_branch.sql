create or replace function core_node.end_branch(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_key text = null, p_ord integer[] = null,
    p_result jsonb = null, p_undo jsonb = null, out outcome text, out next_path text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_held   record;
    v_now    timestamptz;
    v_parts  text[] := string_to_array(p_path, '/');
    v_above  text := array_to_string(v_parts[: cardinality(v_parts) - 2], '/');
    v_parent core_private.workflow_cursors;
    v_item   integer;
begin
    if p_key is not null then
        perform core_private.check_fence_step(p_key, p_ord);
        perform core_private.check_payload(
            coalesce(p_result, 'null'), core_private.max_stored(p_run), 'p_result');
    end if;
    if p_path = '' or p_path is null then
        raise exception using errcode = 'NX006', column = 'p_path', message = 'p_path names no branch',
            hint = 'core_node.commit_steps ends a run.';
    end if;
    v_held := core_private.hold_cursor(p_run, p_path, p_epoch, p_token, p_pos, p_key);
    v_now := core_private.now();
    if v_held.outcome not in ('ok', 'cancelled') then
        outcome := case when p_key is not null and (v_held.held).run_id is null and exists (
                                 select
                                   from core_private.workflow_journal j
                                  where j.run_id = p_run and j.key = p_key and j.status = 'c')
                        then 'already' else 'lost' end;
        return;
    end if;
    if p_key is not null then
        perform core_private.journal_step(p_run, p_key, p_ord, 'c', p_result, null, 1, p_undo, v_now);
    end if;
    if v_held.outcome = 'cancelled' then
        perform core_private.leave_cancelled(p_run, p_path, (v_held.held).cancel, v_now);
        outcome := 'cancelled';
        return;
    end if;
    select *
      into v_parent
      from core_private.workflow_cursors c
     where c.run_id = p_run and c.path = v_above;
    if v_parent.next_item < v_parent.items then
        -- One by one: a series in FROM is made whole, for each item.
        v_item := v_parent.next_item;
        while exists (
            select
              from core_private.workflow_journal j
             where j.run_id = p_run and j.key = v_parent.wait_key || '#' || v_item and j.status = 'c')
        loop
            v_item := v_item + 1;
        end loop;
        v_item := case when v_item < v_parent.items then v_item end;
        update core_private.workflow_cursors c
           set next_item = coalesce(v_item + 1, c.items)
         where c.run_id = p_run and c.path = v_above;
    end if;
    if v_item is not null then
        next_path := array_to_string(v_parts[: cardinality(v_parts) - 1], '/') || '/' || v_item;
        update core_private.workflow_cursors c
           set path = next_path, pos = 0, attempt = 0, deaths = 0
         where c.run_id = p_run and c.path = p_path;
        outcome := 'item';
        return;
    end if;
    delete from core_private.workflow_cursors c where c.run_id = p_run and c.path = p_path;
    outcome := core_private.branch_over(p_run, p_path, false, null, v_now);
end $$;
comment on function core_node.end_branch(uuid, text, integer, uuid, integer, text, integer[], jsonb, jsonb) is 'For nodes: the last commit of a branch, with its last step unless p_key is NULL. Outcomes: ok; joined: it was the last one, and the cursor that waits for it is due; ended: the last one, and since another one had failed the run is undone; item: the lease goes on with the next item, whose cursor is next_path at pos 0; already; cancelled; lost. Raises 55000 unless the transaction is read committed, NX003, NX006, NX601.';
