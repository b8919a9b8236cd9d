create or replace function core_private.check_registrars(p_namespace text, p_task_ids uuid[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_restricted boolean := (select n.restricted from core.namespaces n where n.namespace = p_namespace);
    v_role       text;
begin
    for v_role in select distinct t.registered_by from core.scheduled_tasks t where t.task_id = any (p_task_ids) loop
        if not exists (select from pg_roles r where r.rolname = v_role) then
            raise exception using errcode = 'NX401', column = 'registered_by',
                message = format('role %s, which registered the task, is gone', quote_literal(v_role)),
                hint = 'Pause and resume the task as a role that may operate the namespace, or schedule it anew.';
        end if;
        continue when core_private.has_duty(p_namespace, 'operate', v_restricted, v_role::name)
                      or core_private.has_duty(p_namespace, 'produce', v_restricted, v_role::name);
        raise exception using errcode = 'NX401', column = 'registered_by',
            message = format('role %I, which registered the task, may no longer schedule in namespace %s',
                             v_role, quote_literal(p_namespace)),
            hint = format('Give it back its duty, with nexus_producer or core.grant_namespace(%L, %L, ''produce''), '
                          || 'or resume the task as another role.', p_namespace, v_role);
    end loop;
end $$;
comment on function core_private.check_registrars(text, uuid[]) is 'Raises NX401 unless the roles that registered the tasks may still schedule in the namespace.';
