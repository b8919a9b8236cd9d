create or replace function core_private.check_retry(p_action text, p_actions text[], p_after interval, p_policy jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_action is null or p_action <> all (p_actions) then
        raise exception using errcode = 'NX006', column = 'p_action',
            message = format('p_action cannot be %s', quote_nullable(left(p_action, 100))),
            hint = format('Give one of: %s.', array_to_string(p_actions, ', '));
    end if;
    if p_after < interval '0' or p_after > interval '30 years' then
        raise exception using errcode = 'NX006', column = 'p_after',
            message = format('p_after cannot be %s', p_after), hint = 'It lies between 0 and 30 years.';
    end if;
    if p_policy is not null and p_policy <> '{}' then
        perform core_private.check_policy(p_policy, 'p_policy');
    end if;
    return core_private.workflow_retry() || coalesce(p_policy, '{}');
end $$;
comment on function core_private.check_retry(text, text[], interval, jsonb) is 'The policy with what steps have by default; raises NX006, NX007.';
