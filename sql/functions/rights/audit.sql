create or replace function core_private.audit(
    p_action text, p_namespace text, p_target text, p_reason text, p_details jsonb = '{}')
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core.audit_log (
        happened_at, principal, application, client_address, action, namespace, target, reason, details)
    values (
        core_private.now(), core_private.principal(), nullif(current_setting('application_name'), ''),
        inet_client_addr(),
        p_action, p_namespace, p_target, p_reason, p_details)
$$;
comment on function core_private.audit(text, text, text, text, jsonb) is 'Records what somebody did.';
