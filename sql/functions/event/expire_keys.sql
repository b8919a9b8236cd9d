create or replace function core_private.expire_keys(p_limit integer = 20000)
returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
    select core_private.remove_old(
        'core.event_keys', 'expires_at', core_private.now(), p_limit,
        p_condition => '(x.msg_id is null or not core_private.is_pending(x.namespace, x.msg_id, x.event_id))')
$$;
comment on function core_private.expire_keys(integer) is 'Forgets up to p_limit expired dedupe keys, but for those whose event is still pending and that hold as long as it is; returns how many.';
