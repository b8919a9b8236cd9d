create or replace function core.may_operate(p_namespace text)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((
        select core_private.has_duty(n.namespace, 'operate', n.restricted)
          from core.namespaces n
         where n.namespace = p_namespace), false)
$$;
comment on function core.may_operate(text) is 'Whether the caller may operate the namespace: change messages on its queues by hand, replay and discard.';
