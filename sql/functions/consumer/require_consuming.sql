-- Nodes are consumers, people who mend by hand operators.
create or replace function core_private.require_consuming(p_namespace text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from core.namespaces n
                    where n.namespace = p_namespace
                      and (core_private.has_duty(p_namespace, 'operate', n.restricted)
                           or core_private.has_duty(p_namespace, 'consume', n.restricted))) then
        perform core_private.require_duty(
            p_namespace,
            case when pg_has_role(core_private.caller(), 'nexus_operator', 'member') then 'operate' else 'consume' end);
    end if;
end $$;
comment on function core_private.require_consuming(text) is 'Raises NX101, NX401 or NX402 unless the caller may consume or operate in that namespace.';
