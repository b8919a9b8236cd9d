-- Immutable, so that a plan that is kept has the value itself.
create or replace function core_private.workflow_retry()
returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select '{"max_attempts": 3, "shape": "exponential", "base": "1s", "max": "60s", "jitter": 0}'::jsonb
$$;
comment on function core_private.workflow_retry() is 'The retry policy of steps that say nothing else.';
