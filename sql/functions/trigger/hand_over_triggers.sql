-- A role that was dropped has no name any more: it is given by the number that the status shows.
create or replace function core.hand_over_triggers(p_from_role text, p_to_role text, p_namespace text = null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_admin boolean := pg_has_role(core_private.caller(), 'nexus_admin', 'member');
    v_from  oid := core_private.role_named(p_from_role);
    v_to    oid := core_private.role_named(p_to_role);
    v_names text[];
    v_name  text;
    v_moved jsonb;
    v_total integer := 0;
begin
    perform core_private.refuse_borrowed_session();
    if p_namespace is not null then
        perform core_private.require_duty(p_namespace, 'operate');
    end if;
    if v_from is null and p_from_role ~ '^[0-9]{1,9}$' then
        v_from := p_from_role::oid;
    end if;
    if v_from is null or v_to is null then
        raise exception using errcode = 'NX006',
            column = case when v_from is null then 'p_from_role' else 'p_to_role' end,
            message = format('there is no role %s', coalesce(
                quote_literal(left(case when v_from is null then p_from_role else p_to_role end, 100)), 'NULL')),
            hint = 'Give a role; one that was dropped by the number in registered_by_principal of core.triggers.';
    elsif not v_admin and not pg_has_role(core_private.caller(), v_to, 'member') then
        raise exception using errcode = 'insufficient_privilege', column = 'p_to_role',
            message = format('role %I is no member of %I', core_private.caller(), p_to_role),
            hint = 'Ask a member of it that operates the namespace, or an administrator.';
    end if;
    v_names := array(
        select n.namespace
          from core.namespaces n
         where (p_namespace is null or n.namespace = p_namespace)
           and core_private.has_duty(n.namespace, 'operate', n.restricted)
         order by n.namespace);
    foreach v_name in array v_names loop
        continue when not exists (
                select from core.triggers t where t.namespace = v_name and t.registered_by_principal = v_from)
            and not exists (select from core.handlers h where h.namespace = v_name and h.registered_by = v_from)
            and not exists (
                select from core.watched_tables w where w.namespace = v_name and w.registered_by_principal = v_from);
        perform core_private.lock_namespace(v_name, false);
        perform from core.namespaces n where n.namespace = v_name for no key update;
        if exists (
               select
                 from (select distinct t.kind, t.mode
                         from core.triggers t
                        where t.namespace = v_name and t.registered_by_principal = v_from) k
                where core_private.trigger_trouble(v_name, k.kind, v_to, k.mode))
           or not core_private.has_duty(
                  v_name, 'produce', (select n.restricted from core.namespaces n where n.namespace = v_name), p_to_role)
              and exists (select from core.watched_tables w
                           where w.namespace = v_name and w.registered_by_principal = v_from) then
            raise exception using errcode = 'NX006', column = 'p_to_role',
                message = format('role %I lacks the duties in namespace %s that these triggers need', p_to_role,
                                 quote_literal(v_name)),
                hint = 'Grant it to consume or to operate first, to produce for watched tables, and nexus_admin '
                    || 'for triggers that are sync: they are judged by that.';
        end if;
        with moved as (
            update core.triggers t
               set registered_by_principal = v_to, registered_by = core_private.principal()
             where t.namespace = v_name and t.registered_by_principal = v_from
            returning t.name),
        handed as (
            update core.handlers h
               set registered_by = v_to
             where h.namespace = v_name and h.registered_by = v_from
            returning h.key),
        watches as (
            update core.watched_tables w
               set registered_by_principal = v_to, registered_by = core_private.principal()
             where w.namespace = v_name and w.registered_by_principal = v_from
            returning w.watch_id)
        select jsonb_build_object(
                   'from', p_from_role, 'to', p_to_role,
                   'triggers', (select count(*) from moved), 'handlers', (select count(*) from handed),
                   'watches', (select count(*) from watches),
                   'first_triggers', (select (array_agg(m.name order by m.name))[1:100] from moved m))
          into v_moved;
        v_total := v_total + (v_moved ->> 'triggers')::integer + (v_moved ->> 'handlers')::integer
            + (v_moved ->> 'watches')::integer;
        perform core_private.audit('hand_over_triggers', v_name, p_to_role, null, v_moved);
    end loop;
    return v_total;
end $$;
comment on function core.hand_over_triggers(text, text, text) is 'Gives the triggers, handlers and watched tables that a role registered to another one, by whose duties their deliveries are judged from then on; returns how many. Of one namespace, or of all that the caller operates. Functions keep their owners. An administrator, or an operator who is a member of the new role. Raises 42501, NX006, NX101, NX401, NX402.';
