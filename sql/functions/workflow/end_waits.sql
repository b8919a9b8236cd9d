-- The caller holds the cursors. The oldest signal of a name goes to the first that waits for it.
create or replace function core_private.end_waits(p_runs uuid[], p_path text, p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_n    integer := 0;
    v_sent record;
    r      record;
begin
    for r in
        select c.*
          from core_private.workflow_cursors c
         where c.run_id = any (p_runs) and (p_path is null or c.path = p_path) and c.state = 'W'
         order by c.run_id, c.path
    loop
        update core_private.workflow_signals s
           set consumed_at = p_now, routed = true
         where s.signal_id = (
             select x.signal_id
               from core_private.workflow_signals x
              where x.run_id = r.run_id and x.name = r.waiting_for and x.consumed_at is null
              order by x.signal_id
              limit 1)
        returning s.payload into v_sent;
        continue when not found;
        v_n := v_n + 1;
        if r.waiting_for ^@ 'child:' and v_sent.payload ->> 'status' <> 'completed' then
            -- The node that goes on says what this failure means.
            update core_private.workflow_journal j
               set result = coalesce(j.result, '{}') || jsonb_build_object('child_failed', v_sent.payload)
             where j.run_id = r.run_id and j.key = r.wait_key;
            update core_private.workflow_cursors c
               set state = 'R', waiting_for = null, wait_key = null, wait_ord = null, due_at = p_now, token = null
             where c.run_id = r.run_id and c.path = r.path;
            continue;
        end if;
        perform core_private.journal_step(
            r.run_id, r.wait_key, r.wait_ord, 'c',
            case when r.waiting_for ^@ 'child:' then v_sent.payload -> 'result'
                 else jsonb_build_object('payload', v_sent.payload) end,
            null, 1, null, p_now);
        update core_private.workflow_cursors c
           set state = 'R', pos = c.pos + 1, waiting_for = null, wait_key = null, wait_ord = null, attempt = 0,
               deaths = 0, due_at = p_now, token = null
         where c.run_id = r.run_id and c.path = r.path;
    end loop;
    return v_n;
end $$;
comment on function core_private.end_waits(uuid[], text, timestamptz) is 'Has steps that wait for a signal go on where it is there; of one path, or of all if that is NULL. How many did.';
