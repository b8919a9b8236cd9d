create or replace function core_private.check_kv_value(p_namespace text, p_value jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_value is null then
        raise exception using errcode = 'NX003', column = 'p_value', message = 'the value is SQL NULL',
            hint = 'Pass ''null''::jsonb, or take the key away with core.kv_delete.';
    end if;
    perform core_private.check_payload(
        p_value, (select n.max_payload_bytes from core.namespaces n where n.namespace = p_namespace), 'p_value');
end $$;
comment on function core_private.check_kv_value(text, jsonb) is 'Raises NX003 or NX601 when a value cannot be kept exactly, or is larger than a payload of the namespace may be.';
