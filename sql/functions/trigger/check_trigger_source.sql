create or replace function core_private.check_trigger_source(p_source jsonb, out pattern text, out filter jsonb)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event jsonb := p_source -> 'event';
begin
    if jsonb_typeof(p_source) is distinct from 'object' or jsonb_typeof(v_event) is distinct from 'object'
       or p_source - 'event' <> '{}' then
        perform core_private.fail_trigger('p_source',
            format('%s is no source', coalesce(left(p_source::text, 200), 'NULL')),
            'Give {"event": {"pattern": "order.*", "contains": {"country": "DE"}}}; contains may be left out.');
    end if;
    perform core_private.check_option_keys(v_event, '{pattern,contains}', 'p_source');
    if jsonb_typeof(v_event -> 'pattern') is distinct from 'string' then
        perform core_private.fail_trigger('pattern', format('pattern cannot be %s',
            coalesce(left((v_event -> 'pattern')::text, 200), 'NULL')), 'Give an event type, prefix.*, prefix:* or *.');
    end if;
    pattern := (core_private.check_patterns(array[v_event ->> 'pattern']))[1];
    if v_event ? 'contains' then
        filter := nullif(v_event -> 'contains', '{}');
        if filter is not null and jsonb_typeof(filter) <> 'object' or octet_length(filter::text) > 8000 then
            perform core_private.fail_trigger('contains', format('contains cannot be %s', left(filter::text, 200)),
                'Give an object of at most 8000 bytes that the payload has to contain.');
        end if;
    end if;
end $$;
comment on function core_private.check_trigger_source(jsonb) is 'Pattern and filter of a source. Raises NX004, NX005, NX008, NX014.';
