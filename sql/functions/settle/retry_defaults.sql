-- Immutable, so that a plan that is kept has the values themselves.
create or replace function core_private.retry_defaults()
returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select '{"max_attempts": 10, "shape": "exponential", "base": "1s", "max": "5 min", "jitter": 0.2}'::jsonb
$$;
comment on function core_private.retry_defaults() is 'The retry policy that holds where neither the handler, the consumer nor the namespace says otherwise.';
