create or replace function core.kv_cas(
    p_namespace text, p_collection text, p_key text, p_value jsonb, p_version bigint, p_options jsonb = '{}',
    out done boolean, out version bigint)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_known constant text[] := array['ttl'];
begin
    perform core_private.require_duty(p_namespace, 'produce');
    perform core_private.check_kv_key(p_collection, p_key);
    perform core_private.check_kv_value(p_namespace, p_value);
    perform core_private.check_kv_version(p_version);
    perform core_private.check_option_keys(p_options, v_known);
    select w.done, w.version
      into done, version
      from core_private.write_kv(
          p_namespace, p_collection, p_key, p_value, core_private.kv_ttl(p_options), p_version) w;
end $$;
comment on function core.kv_cas(text, text, text, jsonb, bigint, jsonb) is 'Gives a key a value if it has p_version, 0 being that of a key that is not there; version is then its new one. Otherwise done is false and version the one it has, NULL if it is not there: that is an answer and no error, and of two at once one is done. Options: ttl. Raises NX001, NX003, NX004, NX005, NX006, NX016, NX101, NX401, NX402, NX601.';
