create or replace function core_private.http_source(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_strip_nulls(jsonb_build_object(
               'method', d.method, 'path', d.path, 'token_hash', encode(d.token_hash, 'hex'),
               'public', case when d.token_hash is null then true end, 'timeout', d.timeout::text))
      from core.http_trigger_details d
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.http_source(uuid) is 'The source of a trigger of kind http, as core_private.check_http_source has it.';
