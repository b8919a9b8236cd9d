create or replace function core.kv_get(p_namespace text, p_collection text, p_key text)
returns table (
    value jsonb, version bigint, created_at timestamptz, updated_at timestamptz, expires_at timestamptz,
    updated_by text)
language plpgsql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    perform core_private.require_kv_reading(p_namespace);
    perform core_private.check_kv_key(p_collection, p_key);
    return query
    select k.value, k.version, k.created_at, k.updated_at, k.expires_at, k.updated_by
      from core.kv_entries k
     where k.namespace = p_namespace and k.collection = p_collection collate "C" and k.key = p_key collate "C"
       and (k.expires_at is null or k.expires_at > v_now);
end $$;
comment on function core.kv_get(text, text, text) is 'The value of a key with its version and times; no row if it is not there, or has expired. Raises NX001, NX016, NX101, NX401, NX402.';
