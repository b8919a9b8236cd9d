create or replace function core_private.source_list(p_source jsonb, p_key text)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_list jsonb   := coalesce(p_source -> p_key, '[]');
    v_bad  boolean := jsonb_typeof(v_list) <> 'array';
begin
    if not v_bad then
        v_bad := jsonb_array_length(v_list) > 1000
            or exists (select from jsonb_array_elements(v_list) e(value) where jsonb_typeof(e.value) <> 'string');
    end if;
    if v_bad then
        perform core_private.fail_trigger(p_key, format('%s cannot be %s', p_key, left(v_list::text, 200)),
            'Give a list of up to 1000 names.');
    end if;
    return array(select distinct e.name collate "C" from jsonb_array_elements_text(v_list) e(name) order by 1);
end $$;
comment on function core_private.source_list(jsonb, text) is 'A list of names in the source of a trigger, each once and sorted; {} if it is left out. Raises NX014.';
