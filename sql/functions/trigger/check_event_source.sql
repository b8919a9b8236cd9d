create or replace function core_private.check_event_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_option_keys(p_source, '{pattern,contains}', 'p_source');
    return jsonb_build_object('pattern', core_private.source_pattern(p_source, 'pattern'))
        || core_private.source_filter(p_source);
end $$;
comment on function core_private.check_event_source(text, jsonb) is 'The source of a trigger of kind event: pattern and contains. Raises NX004, NX005, NX008, NX014.';
