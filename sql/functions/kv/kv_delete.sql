create or replace function core.kv_delete(
    p_namespace text, p_collection text, p_key text, p_version bigint = null, out done boolean, out version bigint)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform core_private.require_duty(p_namespace, 'produce');
    perform core_private.check_kv_key(p_collection, p_key);
    if p_version is not null then
        perform core_private.check_kv_version(p_version);
    end if;
    select w.done, w.version
      into done, version
      from core_private.write_kv(p_namespace, p_collection, p_key, null, null, p_version) w;
end $$;
comment on function core.kv_delete(text, text, text, bigint) is 'Takes a key away, with p_version only if it has that one. version is the one that it had; where done is false it is the one it has, NULL if it is not there. Raises NX001, NX006, NX016, NX101, NX401, NX402.';
