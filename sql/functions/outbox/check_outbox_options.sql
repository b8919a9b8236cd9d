create or replace function core_private.check_outbox_options(p_options jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array['strict', 'profile', 'max_body_bytes', 'retry', 'exhausted'];
begin
    perform core_private.check_option_keys(p_options, v_known);
    if p_options ? 'strict' and jsonb_typeof(p_options -> 'strict') <> 'boolean' then
        perform core_private.fail_option('strict', p_options -> 'strict', 'Give true or false.');
    end if;
    if p_options ? 'profile'
       and coalesce(p_options ->> 'profile', '')
           <> all (array['default', 'low_latency', 'high_throughput', 'relaxed']) then
        perform core_private.fail_option('profile', p_options -> 'profile',
            'Give default, low_latency, high_throughput or relaxed.');
    end if;
    if p_options ? 'max_body_bytes' and not coalesce(jsonb_path_exists(p_options,
        'strict $.max_body_bytes ? (@.type() == "number" && @ >= 1 && @ <= 104857600 && @.floor() == @)'), false) then
        perform core_private.fail_option('max_body_bytes', p_options -> 'max_body_bytes', 'Give 1 to 104857600.');
    end if;
    if p_options ? 'retry' then
        perform core_private.check_policy(p_options -> 'retry', 'retry');
    end if;
    if p_options ? 'exhausted' and coalesce(p_options ->> 'exhausted', '') not in ('dead', 'halt') then
        perform core_private.fail_option('exhausted', p_options -> 'exhausted', 'Give dead or halt.');
    end if;
end $$;
comment on function core_private.check_outbox_options(jsonb) is 'Raises NX004, NX005 or NX007 for options that an outbox queue cannot have.';
