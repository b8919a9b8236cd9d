create or replace function core_private.payload_keys(p_payload jsonb)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return '{""}'::text[] || array(
        select core_private.scalar_key(e.key, e.value)
          from jsonb_each(case jsonb_typeof(p_payload) when 'object' then p_payload else '{}' end) e
         where jsonb_typeof(e.value) not in ('object', 'array'));
end $$;
comment on function core_private.payload_keys(jsonb) is 'The scalars of a payload as core_private.filter_key has those of filters, and the one of filters that have none.';
