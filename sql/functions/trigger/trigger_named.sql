create or replace function core_private.trigger_named(p_trigger_id uuid, out namespace text, out name text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    select t.namespace, t.name into namespace, name from core.triggers t where t.trigger_id = p_trigger_id;
    if not found or core_private.is_hidden(namespace) then
        raise exception using errcode = 'NX114', column = 'p_trigger_id',
            message = format('there is no trigger %s', coalesce(p_trigger_id::text, 'NULL')),
            hint = 'core.trigger_status has them.';
    end if;
end $$;
comment on function core_private.trigger_named(uuid) is 'Namespace and name of a trigger. Raises NX114.';
