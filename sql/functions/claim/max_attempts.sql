-- In PL/pgSQL, whose plan is kept: claims ask for it.
create or replace function core_private.max_attempts(p_consumer_retry jsonb, p_namespace_retry jsonb)
returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce((p_consumer_retry ->> 'max_attempts')::integer, (p_namespace_retry ->> 'max_attempts')::integer,
                    (core_private.retry_defaults() ->> 'max_attempts')::integer);
end $$;
comment on function core_private.max_attempts(jsonb, jsonb) is 'Attempts by the consumer''s policy, else the namespace''s, else by core_private.retry_defaults().';
