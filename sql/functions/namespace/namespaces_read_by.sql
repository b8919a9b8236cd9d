-- Policies and views hand in current_user, which nobody can borrow there. The function answers for any role, but a
-- role without usage of core_private cannot name it.
create or replace function core_private.namespaces_read_by(p_role name)
returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(array_agg(n.namespace), '{}')
      from core.namespaces n
     where core_private.has_duty(n.namespace, 'read', n.restricted, p_role)
$$;
comment on function core_private.namespaces_read_by(name) is 'The namespaces whose rows a role may see: those that it may read or operate. Row-level security rests on it.';
