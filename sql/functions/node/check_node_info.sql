create or replace function core_private.check_node_info(p_info jsonb)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(p_info) is distinct from 'object' then
        raise exception using errcode = 'NX006', column = 'p_info',
            message = 'p_info is not an object',
            hint = 'Give an object.';
    end if;
    if octet_length(p_info::text) > 65536 then
        raise exception using errcode = 'NX006', column = 'p_info',
            message = format('p_info has %s bytes, more than 65536', octet_length(p_info::text)),
            hint = 'Give up to 65536 bytes.';
    end if;
end $$;
comment on function core_private.check_node_info(jsonb) is 'Raises NX006 unless it is an object that is not too large.';
