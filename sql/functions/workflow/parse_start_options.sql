create or replace function core_private.parse_start_options(
    p_options jsonb, out key text, out tags text[], out delay interval, out timeout interval, out correlation_id text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_option_keys(
        p_options, '{idempotency_key,tags,delay,timeout,correlation_id}');
    if p_options ? 'idempotency_key' then
        key := p_options ->> 'idempotency_key';
        if jsonb_typeof(p_options -> 'idempotency_key') <> 'string' or octet_length(key) not between 1 and 1024 then
            perform core_private.fail_option(
                'idempotency_key', p_options -> 'idempotency_key', 'Give a string of 1 to 1,024 bytes.');
        end if;
    end if;
    if p_options ? 'correlation_id' then
        correlation_id := p_options ->> 'correlation_id';
        if jsonb_typeof(p_options -> 'correlation_id') <> 'string'
           or octet_length(correlation_id) not between 1 and 1024 then
            perform core_private.fail_option(
                'correlation_id', p_options -> 'correlation_id', 'Give a string of 1 to 1,024 bytes.');
        end if;
    end if;
    if p_options ? 'tags' then
        if jsonb_typeof(p_options -> 'tags') <> 'array' or jsonb_array_length(p_options -> 'tags') > 100
           or jsonb_path_exists(p_options -> 'tags', 'strict $[*] ? (@.type() != "string")')
           or octet_length((p_options -> 'tags')::text) > 8192 then
            perform core_private.fail_option(
                'tags', p_options -> 'tags', 'Give an array of up to 100 strings, 8,192 bytes in all.');
        end if;
        tags := nullif(array(select t from jsonb_array_elements_text(p_options -> 'tags') t), '{}');
    end if;
    if p_options ? 'delay' then
        delay := core_private.parse_interval(p_options -> 'delay', 'delay', '0', '30 years');
    end if;
    if p_options ? 'timeout' then
        timeout := core_private.parse_interval(p_options -> 'timeout', 'timeout', '1 ms', '30 years');
    end if;
end $$;
comment on function core_private.parse_start_options(jsonb) is 'Options of core.start_workflow; raises NX004, NX005.';
