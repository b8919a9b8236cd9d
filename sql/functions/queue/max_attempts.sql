create or replace function core_private.max_attempts(p_consumer_retry jsonb, p_namespace_retry jsonb)
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((p_consumer_retry ->> 'max_attempts')::integer, (p_namespace_retry ->> 'max_attempts')::integer, 10)
$$;
comment on function core_private.max_attempts(jsonb, jsonb) is 'Attempts by the consumer''s policy, else the namespace''s, else 10.';
