-- For what is addressed by an id of the whole database: the caller never named the namespace, so neither do we unless it may
-- see it.
create or replace function core_private.require_duty_there(p_namespace text, p_duty text, p_argument text, p_thing text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (select from core.namespaces n
                where n.namespace = p_namespace and n.restricted
                  and pg_has_role(core_private.caller(), core_private.duty_role(p_duty), 'member')
                  and not core_private.has_duty(n.namespace, p_duty, true) and not core_private.has_duty(n.namespace, 'read', true)) then
        raise exception using errcode = 'NX402', column = p_argument,
            message = format('%s belongs to a restricted namespace in which role %I has no grant to %s', p_thing, core_private.caller(), p_duty),
            hint = 'Its administrator grants it with core.grant_namespace.';
    end if;
    perform core_private.require_duty(p_namespace, p_duty);
end $$;
comment on function core_private.require_duty_there(text, text, text, text) is 'Like require_duty, for a namespace that the caller did not name: the message names p_thing instead, unless the caller may read there. Raises NX401, NX402.';
