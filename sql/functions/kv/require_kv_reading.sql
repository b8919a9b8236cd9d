-- Consumers read what they work by, readers everything.
create or replace function core_private.require_kv_reading(p_namespace text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from core.namespaces n
                    where n.namespace = p_namespace
                      and (core_private.has_duty(p_namespace, 'consume', n.restricted)
                           or core_private.has_duty(p_namespace, 'read', n.restricted))) then
        perform core_private.require_duty(
            p_namespace,
            case when pg_has_role(core_private.caller(), 'nexus_consumer', 'member') then 'consume' else 'read' end);
    end if;
end $$;
comment on function core_private.require_kv_reading(text) is 'Raises NX101, NX401 or NX402 unless the caller may consume or read in that namespace.';
