create or replace function core_private.check_dead_letter_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kinds text[] := array(select k.kind from core_private.source_kinds() k order by k.kind);
    v_key   text;
begin
    perform core_private.check_option_keys(p_source, '{source,trigger,target}', 'p_source');
    foreach v_key in array array['source', 'trigger', 'target'] loop
        if jsonb_typeof(p_source -> v_key) <> 'string' or p_source ->> v_key = '' then
            perform core_private.fail_trigger(v_key,
                format('%s cannot be %s', v_key, left((p_source -> v_key)::text, 200)),
                'Give a string that is not empty, or leave it out.');
        end if;
    end loop;
    if p_source ->> 'source' <> all (v_kinds) then
        perform core_private.fail_trigger('source',
            format('source cannot be %s', left((p_source -> 'source')::text, 200)),
            format('Give one of %s.', array_to_string(v_kinds, ', ')));
    elsif p_source ? 'target' then
        perform core_private.check_handler_key(p_source ->> 'target', 'target');
    end if;
    return p_source;
end $$;
comment on function core_private.check_dead_letter_source(text, jsonb) is 'The source of a trigger of kind dead_letter: source, trigger and target. Raises NX004, NX005, NX006, NX014.';
