create or replace function core_private.entered_by(p_run uuid, p_def_id bigint)
returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(max(n.top), 0)
      from core_private.workflow_definitions d
     cross join lateral core_private.workflow_nodes(d.steps) n
     where d.def_id = p_def_id
       and n.name in (select split_part(j.key, '#', 1) from core_private.workflow_journal j where j.run_id = p_run)
$$;
comment on function core_private.entered_by(uuid, bigint) is 'How many of the outermost steps of a definition a run has begun, by its journal.';
