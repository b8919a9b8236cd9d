-- A run whose compensation failed stays until somebody has resolved its dead letter. The first of those that went on as
-- new ones goes with the last: it has the idempotency key, and the id by which callers know them all.
create or replace function core_private.remove_runs(p_limit integer, p_stop timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now   timestamptz := core_private.now();
    v_gone  uuid[];
    v_found integer;
    v_total integer := 0;
    v_space record;
begin
    for v_space in select n.namespace, v_now - n.workflow_retention as before from core.namespaces n order by 1 loop
        loop
            v_gone := array(
                select r.run_id
                  from core_private.workflow_runs r
                 where r.namespace = v_space.namespace and r.finished_at < v_space.before
                   and (r.continued_as is null or r.first_run_id is not null)
                   and not (r.status = 'compensation_failed' and exists (
                       select
                         from core.dead_letters l
                        where l.source_kind = 'workflow_compensation'
                          and l.source_ref = jsonb_build_object('runId', r.run_id) and l.resolved_at is null))
                 order by r.finished_at
                 limit p_limit
                   for update skip locked);
            exit when v_gone = '{}';
            v_found := cardinality(v_gone);
            v_gone := v_gone || array(
                select r.first_run_id
                  from core_private.workflow_runs r
                 where r.run_id = any (v_gone) and r.continued_as is null and r.first_run_id is not null);
            delete from core_private.workflow_journal j where j.run_id = any (v_gone);
            delete from core_private.workflow_signals s where s.run_id = any (v_gone);
            delete from core_private.workflow_runs r where r.run_id = any (v_gone);
            v_total := v_total + cardinality(v_gone);
            exit when v_found < p_limit or clock_timestamp() > p_stop;
        end loop;
    end loop;
    return v_total;
end $$;
comment on function core_private.remove_runs(integer, timestamptz) is 'Removes runs that ended longer ago than workflow_retention of their namespace, p_limit a statement, until p_stop; how many. The first of those that went on as new ones goes with the last.';
