-- The caller holds the cursors. Most runs are nobody's steps, and end together.
create or replace function core_private.end_runs(
    p_which integer[], p_runs uuid[], p_ops text[], p_outputs text[], p_now timestamptz)
returns table (n integer, detail text)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_plain integer[];
    v_run   core_private.workflow_runs;
    v_new   uuid;
begin
    with ended as (
        update core_private.workflow_runs r
           set status = 'completed', result = p_outputs[i]::jsonb, finished_at = p_now, updated_at = p_now
          from unnest(p_which) i
         where p_ops[i] = 'end' and r.run_id = p_runs[i] and r.parent_run_id is null
        returning i)
    select coalesce(array_agg(e.i), '{}') into v_plain from ended e;
    delete from core_private.workflow_cursors c using unnest(v_plain) i where c.run_id = p_runs[i];
    return query select i, null::text from unnest(v_plain) i;

    foreach n in array p_which loop
        continue when n = any (v_plain);
        detail := null;
        if p_ops[n] = 'end' then
            perform core_private.end_run(p_runs[n], 'completed', p_outputs[n]::jsonb, null, p_now);
            return next;
            continue;
        end if;
        -- The run that goes on answers a parent in place of this one, and has what is left of its time.
        select * into v_run from core_private.workflow_runs r where r.run_id = p_runs[n];
        v_new := core_private.new_run(
            v_run.namespace, v_run.workflow,
            core_private.newest_definition(v_run.namespace, v_run.workflow), p_outputs[n]::jsonb, p_now,
            v_run.timeout_at - p_now, v_run.correlation_id, v_run.tags, null, p_now,
            v_run.parent_run_id, v_run.parent_key, v_run.parent_attempt, v_run.depth, v_run.run_id, v_run.answers,
            p_causation_uid => v_run.causation_uid, p_traceparent => v_run.traceparent,
            p_task => v_run.scheduled_task_id, p_first => coalesce(v_run.first_run_id, v_run.run_id));
        delete from core_private.workflow_cursors c where c.run_id = v_run.run_id;
        update core_private.workflow_runs r
           set status = 'completed', continued_as = v_new, finished_at = p_now, updated_at = p_now
         where r.run_id = v_run.run_id;
        -- What nobody has taken is for the run that goes on.
        update core_private.workflow_signals s
           set run_id = v_new
         where s.run_id = v_run.run_id and s.consumed_at is null;
        detail := v_new;
        return next;
    end loop;
end $$;
comment on function core_private.end_runs(integer[], uuid[], text[], text[], timestamptz) is 'Ends runs that have completed, or go on as new ones, whose ids are returned.';
