create or replace function core_private.cron_source(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select d.source from core.cron_trigger_details d where d.trigger_id = p_trigger_id
$$;
comment on function core_private.cron_source(uuid) is 'The source of a trigger of kind cron, as core_private.check_cron_source has it.';
