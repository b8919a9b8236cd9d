create or replace function core_private.trigger_defaults(p_namespace text)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select s.trigger_retry
           || coalesce((select n.trigger_retry from core.namespaces n where n.namespace = p_namespace), '{}')
      from core_private.settings s
$$;
comment on function core_private.trigger_defaults(text) is 'The retry policy of a trigger that is created with none: by its namespace, then the settings.';
