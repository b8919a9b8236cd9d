create or replace function core_node.fan_out(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_branches text[] = null, p_items jsonb = null, p_max integer = null)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held     record;
    v_now      timestamptz;
    v_in       text := case when p_path = '' then '' else p_path || '/' end || p_key || '/';
    v_items    integer;
    v_next     integer;
    v_branches text[] := p_branches;
    v_space    text;
begin
    perform core_private.check_fence_step(p_key, p_ord);
    if (p_branches is null) = (p_items is null) or cardinality(p_branches) > 1000
       or exists (select from unnest(p_branches) b where b is null or b !~ '^[a-z][a-z0-9_-]{0,62}$')
       or cardinality(p_branches) <> (select count(distinct b) from unnest(p_branches) b) then
        raise exception using errcode = 'NX006', column = 'p_branches',
            message = 'there are no such branches', hint = 'Give p_branches, up to 1,000 names, or p_items.';
    end if;
    if p_items is not null then
        if jsonb_typeof(p_items) <> 'array' then
            raise exception using errcode = 'NX006', column = 'p_items',
                message = 'p_items is no array', hint = 'Give an array of what there is to do.';
        end if;
        perform core_private.check_payload(p_items, core_private.max_stored(p_run), 'p_items');
        perform core_private.check_number(p_max, 'p_max', 1, 1000);
        v_items := jsonb_array_length(p_items);
    end if;
    v_held := core_private.hold_cursor(p_run, p_path, p_epoch, p_token, p_pos, p_key);
    v_now := core_private.now();
    if v_held.outcome = 'cancelled' then
        perform core_private.leave_cancelled(p_run, p_path, (v_held.held).cancel, v_now);
        return 'cancelled';
    elsif v_held.outcome <> 'ok' then
        return case v_held.outcome when 'already' then 'go' else 'lost' end;
    end if;
    perform core_private.journal_step(p_run, p_key, p_ord, 'p', p_items, null, 0, null, v_now);
    if v_items is not null then
        -- Items that an earlier attempt has done are passed over.
        v_branches := array(
            select g.i::text
              from generate_series(0, v_items - 1) g(i)
             where not exists (
                 select
                   from core_private.workflow_journal j
                  where j.run_id = p_run and j.key = p_key || '#' || g.i and j.status = 'c')
             order by g.i
             limit p_max);
        v_next := v_branches[cardinality(v_branches)]::integer + 1;
    end if;
    if v_branches = '{}' then
        update core_private.workflow_journal j
           set status = 'c', completed_at = v_now, attempts = 1, error = null
         where j.run_id = p_run and j.key = p_key;
        update core_private.workflow_cursors c
           set pos = c.pos + 1, entered = coalesce(p_entered, c.entered), attempt = 0, deaths = 0
         where c.run_id = p_run and c.path = p_path;
        return 'go';
    end if;
    update core_private.workflow_cursors c
       set state = 'J', token = null, due_at = null, entered = coalesce(p_entered, c.entered), attempt = 0, deaths = 0,
           wait_key = p_key, wait_ord = p_ord, open = cardinality(v_branches), failed = 0, items = v_items,
           next_item = v_next
     where c.run_id = p_run and c.path = p_path;
    insert into core_private.workflow_cursors (run_id, path, def_id, due_at, entered)
    select p_run, v_in || b, (v_held.held).def_id, v_now, coalesce(p_entered, 0)
      from unnest(v_branches) b;
    select r.namespace into v_space from core_private.workflow_runs r where r.run_id = p_run;
    perform core_private.wake_workflows(v_space, v_now);
    return 'waits';
end $$;
comment on function core_node.fan_out(uuid, text, integer, uuid, integer, integer, text, integer[], text[], jsonb, integer) is 'For nodes: the run goes on in branches: one for each name of p_branches, or for items, an array that is journaled, with p_max of them at once. The cursor waits for the last of them. Branches that are done are left out by the caller, items that are done are passed over. Outcomes: waits; go (there is nothing to do: journaled, pos is one more, and the lease goes on); cancelled; lost. Raises 55000 unless the transaction is read committed, NX003, NX006, NX601.';
