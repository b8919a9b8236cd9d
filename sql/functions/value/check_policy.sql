create or replace function core_private.check_policy(p_policy jsonb, p_field text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bad  text;
    v_hint text := 'Keys: max_attempts (1 to 1,000,000, or -1 for never giving up), '
        || 'shape (exponential, linear, constant), base and max (interval strings up to 30 days), jitter (0 to 1).';
begin
    if jsonb_typeof(p_policy) is distinct from 'object' then
        raise exception using errcode = 'NX007', column = p_field,
            message = format('%s is not an object', p_field),
            hint = v_hint;
    end if;
    select k
      into v_bad
      from jsonb_object_keys(p_policy) k
     where k not in ('max_attempts', 'shape', 'base', 'max', 'jitter')
     limit 1;
    if found then
        raise exception using errcode = 'NX007', column = p_field,
            message = format('%s has no key %s', p_field, quote_literal(v_bad)),
            hint = v_hint;
    end if;
    if p_policy ? 'max_attempts' and not coalesce(jsonb_path_exists(p_policy,
        'strict $.max_attempts ? (@.type() == "number" && (@ == -1 || @ >= 1) && @ <= 1000000 && @.floor() == @)'),
        false) then
        v_bad := 'max_attempts';
    elsif p_policy ? 'shape'
          and coalesce(p_policy ->> 'shape', '') <> all (array['exponential', 'linear', 'constant']) then
        v_bad := 'shape';
    elsif p_policy ? 'jitter' and not coalesce(jsonb_path_exists(p_policy,
        'strict $.jitter ? (@.type() == "number" && @ >= 0 && @ <= 1)'), false) then
        v_bad := 'jitter';
    end if;
    if v_bad is not null then
        raise exception using errcode = 'NX007', column = p_field || '.' || v_bad,
            message = format('%s.%s cannot be %s', p_field, v_bad, p_policy -> v_bad), hint = v_hint;
    end if;
    if p_policy ? 'base' then
        perform core_private.parse_interval(p_policy -> 'base', p_field || '.base', '0', '30 days');
    end if;
    if p_policy ? 'max' then
        perform core_private.parse_interval(p_policy -> 'max', p_field || '.max', '0', '30 days');
    end if;
end $$;
comment on function core_private.check_policy(jsonb, text) is 'Raises NX007 or NX005 unless it is a retry policy; keys may be missing.';
