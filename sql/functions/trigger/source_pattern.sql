create or replace function core_private.source_pattern(p_source jsonb, p_key text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(p_source -> p_key) is distinct from 'string' then
        perform core_private.fail_trigger(p_key,
            format('%s cannot be %s', p_key, coalesce(left((p_source -> p_key)::text, 200), 'NULL')),
            'Give a name, prefix.*, prefix:* or *.');
    end if;
    perform core_private.check_pattern(p_source ->> p_key, p_key);
    return p_source ->> p_key;
end $$;
comment on function core_private.source_pattern(jsonb, text) is 'A pattern in the source of a trigger. Raises NX008, NX014.';
