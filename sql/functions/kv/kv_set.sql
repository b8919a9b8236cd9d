create or replace function core.kv_set(
    p_namespace text, p_collection text, p_key text, p_value jsonb, p_options jsonb = '{}',
    out done boolean, out version bigint)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_known constant text[] := array['ttl', 'if_absent', 'if_present'];
    v_name  text;
begin
    perform core_private.require_duty(p_namespace, 'produce');
    perform core_private.check_kv_key(p_collection, p_key);
    perform core_private.check_kv_value(p_namespace, p_value);
    perform core_private.check_option_keys(p_options, v_known);
    foreach v_name in array array['if_absent', 'if_present'] loop
        if p_options ? v_name and jsonb_typeof(p_options -> v_name) <> 'boolean' then
            perform core_private.fail_option(v_name, p_options -> v_name, 'Give true or false.');
        end if;
    end loop;
    if (p_options ->> 'if_absent')::boolean and (p_options ->> 'if_present')::boolean then
        raise exception using errcode = 'NX005', column = 'if_present',
            message = 'if_absent and if_present exclude each other', hint = 'Give one of them.';
    end if;
    select w.done, w.version
      into done, version
      from core_private.write_kv(
          p_namespace, p_collection, p_key, p_value, core_private.kv_ttl(p_options),
          p_present => case when (p_options ->> 'if_absent')::boolean then false
                            when (p_options ->> 'if_present')::boolean then true end) w;
end $$;
comment on function core.kv_set(text, text, text, jsonb, jsonb) is 'Gives a key a value, in the caller''s transaction; version is its new one. Options: ttl (after which there is no such key; left out: it stays), if_absent, if_present (else done is false and version the one it has, NULL if it is not there). The same value without a ttl changes nothing, also not the version. Raises NX001, NX003, NX004, NX005, NX016, NX101, NX401, NX402, NX601.';
