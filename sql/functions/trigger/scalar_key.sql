-- 17 and 17.0 are equal to @> and differ as text. A value that is long is found by its hash.
create or replace function core_private.scalar_key(p_key text, p_value jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select case when octet_length(v.said) <= 100 then v.said else left(p_key, 20) || '#' || md5(v.said) end
      from (select p_key || '=' || case jsonb_typeof(p_value)
                                   when 'number' then trim_scale(p_value::numeric)::text
                                   else p_value::text end as said) v
$$;
comment on function core_private.scalar_key(text, jsonb) is 'A member of an object whose value is a scalar, as text that is equal where the values are.';
