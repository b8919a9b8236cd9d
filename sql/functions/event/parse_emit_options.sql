-- p_at names the element of a batch in errors; empty for a single emit. Only an element may be NULL, since an array
-- cannot leave one out.
create or replace function core_private.parse_emit_options(
    p_options jsonb,
    p_now     timestamptz,
    p_at      text = '',
    out dedupe_key text, out ordering_key text, out due_at timestamptz, out headers jsonb, out producer text,
    out correlation_id text, out causation_uid uuid, out broadcast boolean, out authored_at timestamptz,
    out tags text[], out depth integer, out dedupe_while text, out priority smallint)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array[
        'dedupe_key', 'ordering_key', 'deliver_at', 'delay', 'headers', 'producer', 'correlation_id',
        'causation_uid', 'broadcast', 'authored_at', 'tags', 'depth', 'dedupe_while', 'priority'];
    v_key text;
begin
    depth := 0;
    broadcast := false;
    if p_options is null and p_at <> '' or p_options = '{}' then
        return;
    end if;
    perform core_private.check_option_keys(p_options, v_known, 'p_options' || p_at);
    foreach v_key in array array['dedupe_key', 'ordering_key', 'producer', 'correlation_id', 'causation_uid'] loop
        continue when not p_options ? v_key;
        if jsonb_typeof(p_options -> v_key) <> 'string' or p_options ->> v_key = '' then
            perform core_private.fail_option(
                v_key || p_at, p_options -> v_key, 'Give a string that is not empty, or leave it out.');
        end if;
        if octet_length(p_options ->> v_key) > 512 then
            raise exception using errcode = 'NX604', column = v_key || p_at,
                message = format('%s has %s bytes, at most 512 are allowed',
                    v_key || p_at, octet_length(p_options ->> v_key)),
                hint = 'Use a digest of it.';
        end if;
    end loop;
    dedupe_key := p_options ->> 'dedupe_key';
    if p_options ? 'dedupe_while' then
        dedupe_while := p_options ->> 'dedupe_while';
        if dedupe_while is null or dedupe_while not in ('queued', 'pending') then
            perform core_private.fail_option(
                'dedupe_while' || p_at, p_options -> 'dedupe_while',
                'Give "queued" (until a node takes the event) or "pending" (until it has been handled).');
        end if;
        if dedupe_key is null then
            raise exception using errcode = 'NX005', column = 'dedupe_while' || p_at,
                message = format('dedupe_while%s is given without a dedupe_key', p_at),
                hint = 'Give the dedupe_key that is to end with the event, or leave it out.';
        end if;
    end if;
    ordering_key := p_options ->> 'ordering_key';
    producer := p_options ->> 'producer';
    correlation_id := p_options ->> 'correlation_id';
    if p_options ? 'causation_uid' then
        causation_uid := core_private.uuid_if_valid(p_options ->> 'causation_uid');
        if causation_uid is null then
            perform core_private.fail_option(
                'causation_uid' || p_at, p_options -> 'causation_uid', 'Give the event_uid of the causing event.');
        end if;
    end if;
    if p_options ? 'deliver_at' and p_options ? 'delay' then
        raise exception using errcode = 'NX005', column = 'delay' || p_at,
            message = 'deliver_at and delay exclude each other',
            hint = 'Give one of them.';
    end if;
    if p_options ? 'deliver_at' then
        due_at := core_private.parse_time(p_options -> 'deliver_at', 'deliver_at' || p_at);
    elsif p_options ? 'delay' then
        due_at := p_now + core_private.parse_interval(p_options -> 'delay', 'delay' || p_at, '0', '10 years');
    end if;
    if due_at <= p_now then
        due_at := null;
    end if;
    if due_at > p_now + interval '10 years' then
        perform core_private.fail_option(
            'deliver_at' || p_at, p_options -> 'deliver_at', 'It may lie at most ten years ahead.');
    end if;
    if p_options ? 'authored_at' then
        authored_at := core_private.parse_time(p_options -> 'authored_at', 'authored_at' || p_at);
    end if;
    if p_options ? 'broadcast' then
        if jsonb_typeof(p_options -> 'broadcast') <> 'boolean' then
            perform core_private.fail_option('broadcast' || p_at, p_options -> 'broadcast', 'Give true or false.');
        end if;
        broadcast := (p_options ->> 'broadcast')::boolean;
        -- Who is alive then is not known now.
        if broadcast and due_at is not null then
            raise exception using errcode = 'NX005', column = 'broadcast' || p_at,
                message = format('broadcast%s cannot be true for an event that is delayed', p_at),
                hint = 'Have it emitted at that time: core.schedule_event takes the option broadcast.';
        end if;
    end if;
    if p_options ? 'depth' then
        if not coalesce(jsonb_path_exists(p_options,
            'strict $.depth ? (@.type() == "number" && @ >= 0 && @ <= 1000000 && @.floor() == @)'), false) then
            perform core_private.fail_option(
                'depth' || p_at, p_options -> 'depth', 'Give a whole number, 0 to 1000000.');
        end if;
        depth := (p_options ->> 'depth')::integer;
    end if;
    if p_options ? 'priority' then
        if (p_options -> 'priority')::text not in ('1', '2', '3', '4') then
            perform core_private.fail_option(
                'priority' || p_at, p_options -> 'priority', 'Give 1 (first), 2, 3 or 4 (last), or leave it out: 1.');
        end if;
        priority := nullif((p_options ->> 'priority')::smallint, 1::smallint);
    end if;
    if p_options ? 'headers' then
        headers := p_options -> 'headers';
        if jsonb_typeof(headers) <> 'object'
           or exists (select from jsonb_each(headers) e where jsonb_typeof(e.value) <> 'string') then
            perform core_private.fail_option('headers' || p_at, headers, 'Give an object of strings.');
        end if;
        select k into v_key from jsonb_object_keys(headers) k where k ilike 'nexus-%' limit 1;
        if found then
            perform core_private.fail_option(
                'headers' || p_at || '.' || v_key, headers -> v_key,
                'Names that begin with "nexus-" are taken; use another.');
        end if;
        if octet_length(headers::text) > 65536 then
            raise exception using errcode = 'NX604', column = 'headers' || p_at,
                message = format('headers have %s bytes, at most 65536 are allowed', octet_length(headers::text)),
                hint = 'Put the data into the payload.';
        end if;
        headers := nullif(headers, '{}');
    end if;
    if p_options ? 'tags' then
        if jsonb_typeof(p_options -> 'tags') <> 'array'
           or exists (
               select
                 from jsonb_array_elements(p_options -> 'tags') e
                where jsonb_typeof(e) <> 'string' or octet_length(e #>> '{}') > 200)
           or jsonb_array_length(p_options -> 'tags') > 100 then
            perform core_private.fail_option(
                'tags' || p_at, p_options -> 'tags',
                'Give an array of at most 100 strings of at most 200 bytes.');
        end if;
        tags := nullif(array(select jsonb_array_elements_text(p_options -> 'tags')), '{}');
    end if;
end $$;
comment on function core_private.parse_emit_options(jsonb, timestamptz, text) is 'The options of emit, checked. due_at is NULL for what is due at once, priority for 1. Raises NX004, NX005, NX604.';
