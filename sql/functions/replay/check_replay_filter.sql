create or replace function core_private.check_replay_filter(p_filter jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array['type', 'from', 'until', 'tag', 'ordering_key', 'correlation_id', 'event_ids'];
    v_key   text;
begin
    perform core_private.check_option_keys(p_filter, v_known, 'p_filter');
    if p_filter = '{}' then
        raise exception using errcode = 'NX009', column = 'p_filter',
            message = 'an empty filter would match every event of the log',
            hint = format('Give at least one of: %s. {"type": "*"} is every event.', array_to_string(v_known, ', '));
    end if;
    foreach v_key in array array['type', 'tag', 'ordering_key', 'correlation_id'] loop
        if p_filter ? v_key and (jsonb_typeof(p_filter -> v_key) <> 'string' or p_filter ->> v_key = '') then
            perform core_private.fail_filter(
                v_key, p_filter -> v_key, 'Give a string that is not empty, or leave it out.');
        end if;
    end loop;
    if p_filter ? 'type' then
        perform core_private.check_pattern(p_filter ->> 'type', 'type');
    end if;
    foreach v_key in array array['from', 'until'] loop
        if p_filter ? v_key then
            perform core_private.parse_time(p_filter -> v_key, v_key);
        end if;
    end loop;
    if p_filter ? 'event_ids' and (
        jsonb_typeof(p_filter -> 'event_ids') <> 'array'
        or jsonb_array_length(p_filter -> 'event_ids') not between 1 and 10000
        or exists (
            select from jsonb_array_elements(p_filter -> 'event_ids') e where e::text !~ '^[0-9]{1,18}$')) then
        perform core_private.fail_filter('event_ids', p_filter -> 'event_ids', 'Give an array of 1 to 10000 event_id.');
    end if;
end $$;
comment on function core_private.check_replay_filter(jsonb) is 'Raises NX004, NX005, NX008 or NX009 unless it says which events to replay.';
