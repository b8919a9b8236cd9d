create or replace function core_private.trigger_policy(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
               'max_attempts', t.retry_max_attempts, 'shape', t.retry_backoff,
               'base', t.retry_base_ms || ' ms', 'max', t.retry_max_ms || ' ms', 'jitter', t.retry_jitter)
      from core.triggers t
     where t.trigger_id = p_trigger_id
$$;
comment on function core_private.trigger_policy(uuid) is 'The retry policy of a trigger; NULL if there is none of that id.';
