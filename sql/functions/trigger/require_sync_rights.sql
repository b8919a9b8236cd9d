-- What a function leaves behind, deferred triggers and held cursors, runs at the commit as the session's user, whoever
-- that is: no definer function holds it back. So both are administrators.
create or replace function core_private.require_sync_rights(
    p_namespace text, p_name text, p_creator oid, p_owner oid)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_has_role(p_creator, 'nexus_admin', 'member') and pg_has_role(p_owner, 'nexus_admin', 'member') then
        return;
    end if;
    raise exception using errcode = 'insufficient_privilege', column = 'mode',
        message = format('trigger %s of namespace %s cannot be sync: %s is no member of nexus_admin',
            quote_literal(p_name), quote_literal(p_namespace),
            case when pg_has_role(p_creator, 'nexus_admin', 'member')
                 then format('%s, which owns the function,', p_owner::regrole)
                 else format('%s, which created the trigger,', p_creator::regrole) end),
        hint = 'Its function runs in the session of whoever emits, so both have to be administrators. '
            || 'Have one create it again with the option replace, with mode async, or core.disable_trigger.';
end $$;
comment on function core_private.require_sync_rights(text, text, oid, oid) is 'Raises 42501 unless who created a trigger and who owns its function are administrators.';
