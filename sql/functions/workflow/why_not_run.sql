create or replace function core_private.why_not_run(p_namespace text, p_def_id bigint, p_entered integer)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when bool_or(l.def_id = p_def_id) then null
                when count(d.def_id) = 0 then 'no live node has the workflow'
                when max(core_private.common_steps(o.prefix_hashes, d.prefix_hashes)) < p_entered
                then 'definition_mismatch'
                else 'a node has another form of it that fits, and takes the run in a moment' end
      from core_private.workflow_definitions o
      left join core_private.live_definitions(p_namespace, core_private.now()) l on true
      left join core_private.workflow_definitions d on d.def_id = l.def_id and d.name = o.name
     where o.def_id = p_def_id
$$;
comment on function core_private.why_not_run(text, bigint, integer) is 'What keeps a run that is due from nodes; NULL: nothing but time. Whoever calls it has asked whether the caller may know.';
