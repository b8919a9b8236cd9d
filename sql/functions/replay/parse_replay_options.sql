create or replace function core_private.parse_replay_options(
    p_options jsonb, out name text, out most bigint, out rate text, out step bigint)
returns record
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_option_keys(p_options, array['replay_id', 'limit', 'rate', 'step', 'dry_run']);
    if p_options ? 'replay_id' and (jsonb_typeof(p_options -> 'replay_id') <> 'string'
        or octet_length(p_options ->> 'replay_id') not between 1 and 200) then
        perform core_private.fail_option(
            'replay_id', p_options -> 'replay_id', 'Give a string of 1 to 200 bytes, or leave it out.');
    end if;
    name := coalesce(p_options ->> 'replay_id', gen_random_uuid()::text);
    if p_options ? 'limit' then
        if (p_options -> 'limit')::text !~ '^[1-9][0-9]{0,17}$' then
            perform core_private.fail_option(
                'limit', p_options -> 'limit', 'Give a whole number from 1 on, or leave it out.');
        end if;
        most := (p_options ->> 'limit')::bigint;
    end if;
    if p_options ? 'rate' then
        rate := core_private.parse_rate(p_options -> 'rate');
    end if;
    step := 5000;
    if p_options ? 'step' then
        if not coalesce(jsonb_path_exists(p_options,
            'strict $.step ? (@.type() == "number" && @ >= 1 && @ <= 10000 && @.floor() == @)'), false) then
            perform core_private.fail_option('step', p_options -> 'step', 'Give a whole number, 1 to 10000.');
        end if;
        step := (p_options ->> 'step')::bigint;
    end if;
    if p_options ? 'dry_run' and jsonb_typeof(p_options -> 'dry_run') <> 'boolean' then
        perform core_private.fail_option('dry_run', p_options -> 'dry_run', 'Give true or false.');
    end if;
end $$;
comment on function core_private.parse_replay_options(jsonb) is 'The options of core.replay_events, checked; name is a new one where none is given. Raises NX004, NX005.';
