create or replace function core_private.dead_letter_source(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_strip_nulls(jsonb_build_object('source', d.source, 'trigger', d.trigger, 'target', d.target))
      from core.dead_letter_trigger_details d
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.dead_letter_source(uuid) is 'The source of a trigger of kind dead_letter, as core_private.check_dead_letter_source has it.';
