create or replace function core_private.is_operated_by(p_namespace text, p_role name)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((
        select core_private.has_duty(n.namespace, 'operate', n.restricted, p_role)
          from core.namespaces n
         where n.namespace = p_namespace), false)
$$;
comment on function core_private.is_operated_by(text, name) is 'Whether a role may operate the namespace. Row-level security of the queues rests on it.';
