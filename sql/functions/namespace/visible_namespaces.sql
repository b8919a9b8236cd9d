create or replace function core.visible_namespaces()
returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(array_agg(n.namespace), '{}')
      from core.namespaces n
     where core_private.has_duty(n.namespace, 'read', n.restricted)
$$;
comment on function core.visible_namespaces() is 'The namespaces whose rows the caller may see: those that it may read or operate. Row-level security rests on it.';
