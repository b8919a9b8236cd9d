create or replace function core_private.task_named(p_namespace text, p_name text)
returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id uuid;
begin
    perform core_private.require_scheduling(p_namespace);
    select t.task_id into v_id from core.scheduled_tasks t where t.namespace = p_namespace and t.name = p_name;
    if not found then
        raise exception using errcode = 'NX108', column = 'p_name',
            message = format('namespace %s has no task %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_name, 200)), 'NULL')),
            hint = 'Tasks are listed in core.task_status.';
    end if;
    return v_id;
end $$;
comment on function core_private.task_named(text, text) is 'The id of a task that the caller may change; raises NX101, NX108, NX401, NX402.';
