-- In PL/pgSQL, whose plan is kept: inlined, the text of three functions would be planned anew with each claim.
create or replace function core_private.is_suspect(p_read_ct integer, p_headers jsonb)
returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return core_private.attempt_of(p_read_ct, p_headers)
           > coalesce(core_private.header_number(p_headers, 'nexus-failures'), 0)
             + coalesce(core_private.header_number(p_headers, 'nexus-deaths'), 0);
end $$;
comment on function core_private.is_suspect(integer, jsonb) is 'Whether a read of a message that is not in flight was never answered: it may have killed its process.';
