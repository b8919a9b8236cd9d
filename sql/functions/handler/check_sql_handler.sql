-- Only who owns the function may: events of anybody else's making would run with the owner's rights.
create or replace function core_private.check_sql_handler(p_namespace text, p_function oid, p_field text)
returns oid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner   oid;
    v_trouble record;
begin
    select p.proowner into v_owner from pg_proc p where p.oid = p_function;
    if not found then
        raise exception using errcode = 'NX006', column = p_field,
            message = format('there is no function %s', coalesce(p_function::regprocedure::text, 'NULL')),
            hint = 'Give its name and argument as ''schema.name(jsonb)''.';
    elsif not pg_has_role(core_private.caller(), v_owner, 'member') then
        raise exception using errcode = 'insufficient_privilege', column = p_field,
            message = format('the function %s belongs to %s, and this is %I',
                             p_function::regprocedure, v_owner::regrole, core_private.caller()),
            hint = format('It will run as %1$s: do this as %1$s or as a member of it (grant %1$s to %2$I;).',
                          v_owner::regrole, core_private.caller());
    end if;
    if right(p_function::regprocedure::text, 7) <> '(jsonb)' then
        raise exception using errcode = 'NX015', column = p_field,
            message = format('%s is not a function of one jsonb', p_function::regprocedure),
            hint = 'Give a function (jsonb) that returns void or one value.';
    end if;
    select * into v_trouble from core_private.handler_trouble(p_function::regprocedure::text, v_owner);
    if v_trouble.what is not null then
        raise exception using errcode = 'NX015', column = p_field,
            message = v_trouble.what, hint = v_trouble.mend;
    elsif not core_private.has_duty(
                  p_namespace, 'consume', (select n.restricted from core.namespaces n where n.namespace = p_namespace),
                  pg_get_userbyid(v_owner)) then
        raise exception using errcode = 'NX401', column = p_field,
            message = format('role %s, which owns the function, may not consume here', v_owner::regrole),
            hint = format('grant nexus_consumer to %1$s; in a restricted namespace also '
                          || 'select core.grant_namespace(%2$L, %1$L, ''consume'');', v_owner::regrole, p_namespace);
    end if;
    return v_owner;
end $$;
comment on function core_private.check_sql_handler(text, oid, text) is 'The owner of a function that the caller may have handle events. Raises 42501, NX006, NX015, NX401.';
