-- What is addressed by an id of the whole database must not tell more than an id that is not there: the caller named no
-- namespace.
create or replace function core_private.is_hidden(p_namespace text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (select from core.namespaces n where n.namespace = p_namespace and n.restricted)
       and not exists (
           select from unnest(array['read', 'operate', 'produce', 'consume']) d(duty)
            where core_private.has_duty(p_namespace, d.duty, true));
end $$;
comment on function core_private.is_hidden(text) is 'Whether the namespace is restricted and the caller has no duty in it, so that it is to learn nothing of what is there.';
