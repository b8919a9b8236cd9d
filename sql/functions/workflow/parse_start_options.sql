create or replace function core_private.parse_start_options(
    p_options jsonb, out key text, out tags text[], out delay interval, out timeout interval, out correlation_id text,
    out depth integer, out causation_uid uuid, out traceparent text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    depth := 0;
    perform core_private.check_option_keys(
        p_options, '{idempotency_key,tags,delay,timeout,correlation_id,depth,causation_uid,traceparent}');
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
    if p_options ? 'depth' then
        if not coalesce(jsonb_path_exists(p_options,
            'strict $.depth ? (@.type() == "number" && @ >= 0 && @ <= 1000000 && @.floor() == @)'), false) then
            perform core_private.fail_option('depth', p_options -> 'depth', 'Give a whole number, 0 to 1000000.');
        end if;
        depth := (p_options ->> 'depth')::integer;
    end if;
    if p_options ? 'causation_uid' then
        causation_uid := core_private.uuid_if_valid(p_options ->> 'causation_uid');
        if causation_uid is null then
            perform core_private.fail_option(
                'causation_uid', p_options -> 'causation_uid', 'Give the event_uid of the causing event.');
        end if;
    end if;
    if p_options ? 'traceparent' then
        traceparent := core_private.traceparent_if_valid(p_options -> 'traceparent');
        if traceparent is null then
            perform core_private.fail_option(
                'traceparent', p_options -> 'traceparent',
                'Give it as W3C Trace Context has it: 00-<trace>-<span>-<flags>.');
        end if;
    end if;
end $$;
comment on function core_private.parse_start_options(jsonb) is 'Options of core.start_workflow; raises NX004, NX005.';
