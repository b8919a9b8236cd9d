create or replace function core_private.fail_uncreated(
    p_namespace text, p_options jsonb, p_message text, p_hidden boolean)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_duty text := (
        select d.duty
          from unnest(array['produce', 'consume', 'operate', 'read']) with ordinality d (duty, n)
         where pg_has_role(core_private.caller(), core_private.duty_role(d.duty), 'member')
         order by d.n
         limit 1);
    v_call text := case when p_options = '{}' then format('select core.create_namespace(%L);', p_namespace)
                        else format('select core.create_namespace(%L, %L);', p_namespace, p_options) end;
begin
    raise exception using errcode = 'NX401', column = 'p_namespace',
        message = p_message,
        detail = format('Namespaces are created by %s.', core_private.administrators()),
        hint = format('Ask an administrator for: %s', v_call)
            || case when p_hidden
                    then format(' or, if it is restricted: select core.grant_namespace(%L, %L, %L);',
                             p_namespace, core_private.caller(), v_duty)
                    else '' end;
end $$;
comment on function core_private.fail_uncreated(text, jsonb, text, boolean) is 'Raises NX401, and says who may create namespaces and what to have run.';
