create or replace function core_private.undo_function(p_def_id bigint, p_key text)
returns core_private.workflow_undo_functions
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select f.*
      from core_private.workflow_undo_functions f
     where f.def_id = p_def_id and f.step = split_part(p_key, '#', 1)
$$;
comment on function core_private.undo_function(bigint, text) is 'What undoes a step in SQL, and as whom.';
