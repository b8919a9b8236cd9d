-- As retarget_runs will have it, asked before anybody registers the new form.
create or replace function core.unfit_runs(p_namespace text, p_workflow text, p_steps jsonb, p_limit integer = 1000)
returns table (run_id uuid, version integer, begun integer, step text)
language plpgsql security definer rows 100
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_hashes text[];
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.check_number(p_limit, 'p_limit', 1, 100000);
    perform core_private.check_workflow(p_workflow, 0, p_steps);
    v_hashes := core_private.prefix_hashes(p_workflow, p_steps);
    return query
        with before as materialized (
            select d.def_id, d.version, d.steps, core_private.common_steps(d.prefix_hashes, v_hashes) as common
              from core_private.workflow_definitions d
             where d.namespace = p_namespace and d.name = p_workflow)
        select r.run_id, b.version, c.entered, b.steps -> b.common ->> 'name'
          from before b
          join core_private.workflow_runs r on r.def_id = b.def_id and r.finished_at is null
          join core_private.workflow_cursors c on c.run_id = r.run_id and c.path = '' and c.entered > b.common
         order by r.run_id
         limit p_limit;
end $$;
comment on function core.unfit_runs(text, text, jsonb, integer) is 'The runs, up to p_limit, that could not go on where a workflow had the steps p_steps, which are those of core_node.register_workflow: ask before a deploy. version is that of the run''s definition, begun how many of its outermost steps were begun, and step the first of these that p_steps does not have, or has otherwise, or elsewhere. Who may consume. Raises NX006, NX019, NX101, NX401, NX402.';
