create or replace function core_private.check_namespace_options(p_options jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array[
        'metadata', 'retry', 'unhandled_after', 'max_payload_bytes', 'dedupe_for', 'keep_broadcasts',
        'workflow_retention', 'expire_unresolved', 'default_consumer', 'restricted', 'max_trigger_depth',
        'trigger_retry', 'dead_letter_retention', 'abandoned_retention'];
begin
    perform core_private.check_option_keys(p_options, v_known);
    if p_options ? 'metadata' and jsonb_typeof(p_options -> 'metadata') <> 'object' then
        perform core_private.fail_option('metadata', p_options -> 'metadata', 'Give an object.');
    end if;
    if p_options ? 'retry' then
        perform core_private.check_policy(p_options -> 'retry', 'retry');
        if (p_options -> 'retry' ->> 'base')::interval > (p_options -> 'retry' ->> 'max')::interval then
            raise exception using errcode = 'NX007', column = 'retry.base',
                message = format('retry.base is %s, more than retry.max, %s',
                    p_options -> 'retry' ->> 'base', p_options -> 'retry' ->> 'max'),
                hint = 'Nothing would come of it: raise max, or lower base.';
        end if;
    end if;
    if p_options ? 'unhandled_after' then
        perform core_private.parse_interval(p_options -> 'unhandled_after', 'unhandled_after', '1 second', '1 year');
    end if;
    if p_options ? 'dedupe_for' then
        perform core_private.parse_interval(p_options -> 'dedupe_for', 'dedupe_for', '1 second', '1 year');
    end if;
    if p_options ? 'keep_broadcasts' then
        perform core_private.parse_interval(p_options -> 'keep_broadcasts', 'keep_broadcasts', '1 minute', '30 days');
    end if;
    if p_options ? 'workflow_retention' then
        perform core_private.parse_interval(
            p_options -> 'workflow_retention', 'workflow_retention', '1 minute', '100 years');
    end if;
    if p_options -> 'expire_unresolved' <> '"off"' then
        perform core_private.parse_interval(
            p_options -> 'expire_unresolved', 'expire_unresolved', '1 hour', '100 years');
    end if;
    perform core_private.check_settings(p_options, true);
    if p_options ? 'max_payload_bytes' and not coalesce(jsonb_path_exists(p_options,
        'strict $.max_payload_bytes ? (@.type() == "number" && @ >= 1024 && @ <= 67108864 && @.floor() == @)'),
        false) then
        perform core_private.fail_option('max_payload_bytes', p_options -> 'max_payload_bytes',
            'Give a whole number of bytes, 1024 to 67108864.');
    end if;
    if p_options ? 'default_consumer'
       and coalesce(p_options ->> 'default_consumer', '') not in ('on', 'off', 'true', 'false') then
        perform core_private.fail_option('default_consumer', p_options -> 'default_consumer',
            'Give "on" or "off".');
    end if;
    if p_options ? 'restricted' and jsonb_typeof(p_options -> 'restricted') <> 'boolean' then
        perform core_private.fail_option('restricted', p_options -> 'restricted', 'Give true or false.');
    end if;
end $$;
comment on function core_private.check_namespace_options(jsonb) is 'Raises NX004, NX005 or NX007 for options no namespace can have.';
