-- 17 and 17.0 are equal to @> and differ as text. A value that is long is found by its hash.
create or replace function core_private.scalar_key(p_key text, p_value jsonb)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_said text := p_key || '=' || case jsonb_typeof(p_value) when 'number' then trim_scale(p_value::numeric)::text
                                                              else p_value::text end;
begin
    return case when octet_length(v_said) <= 100 then v_said else left(p_key, 20) || '#' || md5(v_said) end;
end $$;
comment on function core_private.scalar_key(text, jsonb) is 'A member of an object whose value is a scalar, as text that is equal where the values are.';
