-- Policies and views hand in current_user, which nobody can borrow there. Who may call this could ask for others; but
-- nobody can name it who has no usage of core_private.
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
