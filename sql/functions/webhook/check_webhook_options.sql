create or replace function core_private.check_webhook_options(p_options jsonb, p_known text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_option_keys(p_options, p_known);
    if p_options ? 'source' and (jsonb_typeof(p_options -> 'source') <> 'string'
        or p_options ->> 'source' !~ '^[!-~]+$' or octet_length(p_options ->> 'source') > 1000) then
        perform core_private.fail_option('source', p_options -> 'source', 'Give a URI, or leave it out.');
    end if;
    if p_options ? 'timeout' then
        perform core_private.parse_interval(p_options -> 'timeout', 'timeout', '1 second', '5 minutes');
    end if;
    if p_options ? 'pause_after' then
        perform core_private.parse_interval(p_options -> 'pause_after', 'pause_after', '0', '1 year');
    end if;
    if p_options ? 'insecure' and jsonb_typeof(p_options -> 'insecure') <> 'boolean' then
        perform core_private.fail_option('insecure', p_options -> 'insecure', 'Give true or false.');
    end if;
    if p_options ? 'concurrency' and not coalesce(jsonb_path_exists(p_options,
        'strict $.concurrency ? (@.type() == "number" && @ >= 1 && @ <= 1000 && @.floor() == @)'), false) then
        perform core_private.fail_option('concurrency', p_options -> 'concurrency', 'Give a whole number, 1 to 1000.');
    end if;
end $$;
comment on function core_private.check_webhook_options(jsonb, text[]) is 'Raises NX004 or NX005 for options no webhook can have.';
