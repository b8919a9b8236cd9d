-- The caller holds the cursors from the run's to this one, which is gone by now. The last one to end finds all others
-- counted, since the cursor above is locked: so its container goes on, or fails, once. A container that fails is a
-- branch that fails where it lies in one.
create or replace function core_private.branch_over(
    p_run uuid, p_path text, p_failed boolean, p_error jsonb, p_now timestamptz)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_path   text := p_path;
    v_parts  text[];
    v_above  text;
    v_in     text;
    v_parent core_private.workflow_cursors;
    v_gone   integer;
begin
    loop
        v_parts := string_to_array(v_path, '/');
        v_above := array_to_string(v_parts[: cardinality(v_parts) - 2], '/');
        v_in := array_to_string(v_parts[: cardinality(v_parts) - 1], '/') || '/';
        v_gone := 0;
        if p_failed then
            -- Branches that nobody has begun; those between attempts or at a wait go on to their end.
            delete from core_private.workflow_cursors c
             where c.run_id = p_run and c.path ^@ v_in and c.epoch = 0
               and strpos(substr(c.path, length(v_in) + 1), '/') = 0;
            get diagnostics v_gone = row_count;
        end if;
        update core_private.workflow_cursors c
           set open = c.open - 1 - v_gone, failed = c.failed + p_failed::integer,
               next_item = case when p_failed then c.items else c.next_item end
         where c.run_id = p_run and c.path = v_above
        returning * into v_parent;
        if v_parent.open > 0 then
            return 'ok';
        end if;
        if v_parent.failed = 0 then
            update core_private.workflow_journal j
               set status = 'c', completed_at = p_now, attempts = 1, error = null
             where j.run_id = p_run and j.key = v_parent.wait_key;
            update core_private.workflow_cursors c
               set state = 'R', pos = c.pos + 1, due_at = p_now, token = null, attempt = 0, deaths = 0,
                   wait_key = null, wait_ord = null, next_item = null, items = null
             where c.run_id = p_run and c.path = v_above;
            return 'joined';
        end if;
        p_error := coalesce(p_error, (
            select j.error
              from core_private.workflow_journal j
             where j.run_id = p_run and j.status = 'f' and j.key <> v_parent.wait_key
             order by j.completed_at, j.seq
             limit 1));
        update core_private.workflow_journal j
           set status = 'f', completed_at = p_now, attempts = 1, error = p_error
         where j.run_id = p_run and j.key = v_parent.wait_key;
        if v_above = '' then
            perform core_private.begin_undo(p_run, 'failed', p_error, p_now);
            return 'ended';
        end if;
        delete from core_private.workflow_cursors c where c.run_id = p_run and c.path = v_above;
        v_path := v_above;
        p_failed := true;
    end loop;
end $$;
comment on function core_private.branch_over(uuid, text, boolean, jsonb, timestamptz) is 'A branch has ended: ok; joined: it was the last, and the cursor above is due; ended: it was the last, one had failed, and the run has failed.';
