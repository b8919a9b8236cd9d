create or replace function core_private.option_names(p_options jsonb, p_key text)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_list jsonb   := coalesce(p_options -> p_key, '[]');
    v_bad  boolean := jsonb_typeof(v_list) <> 'array';
begin
    if not v_bad then
        v_bad := exists (select from jsonb_array_elements(v_list) e(value) where jsonb_typeof(e.value) <> 'string');
    end if;
    if v_bad then
        perform core_private.fail_option(p_key, v_list, 'Give a list of names.');
    end if;
    return array(select distinct e.name collate "C" from jsonb_array_elements_text(v_list) e(name) order by 1);
end $$;
comment on function core_private.option_names(jsonb, text) is 'An option that is a list of names, each once and sorted; {} if it is left out. Raises NX005.';
