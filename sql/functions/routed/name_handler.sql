-- What runs in a node is known to nobody before a node or a rule names it. A function and a URL have to be given.
create or replace function core_private.name_handler(p_namespace text, p_key text, p_field text = 'p_key')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_kind text := core_private.check_handler_key(p_key, p_field);
begin
    if exists (select from core.handlers h where h.namespace = p_namespace and h.key = p_key) then
        return;
    elsif v_kind not in ('go', 'workflow') then
        raise exception using errcode = 'NX111', column = p_field,
            message = format('namespace %s has no handler %s', quote_literal(p_namespace), quote_literal(p_key)),
            hint = format('Make it first: select core.create_handler(%L, %L, …);', p_namespace, p_key);
    end if;
    insert into core.handlers (namespace, key, kind, registered_by, created_by, created_at)
    values (p_namespace, p_key, v_kind,
            (select r.oid::regrole from pg_roles r where r.rolname = core_private.caller()),
            core_private.principal(), v_now)
    on conflict do nothing;
end $$;
comment on function core_private.name_handler(text, text, text) is 'Sees that there is a handler of that key; one of kind go or workflow is made. Raises NX006, NX111.';
