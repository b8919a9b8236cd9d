-- Most can be told by a look at the text. A block with an exception is a subtransaction.
create or replace function core_private.fits_payload(p_payload jsonb, p_max_bytes integer)
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := p_payload::text;
begin
    if octet_length(v_text) <= least(p_max_bytes, 2000) and v_text !~ '[0-9]{255}[0-9]{54}' then
        return true;
    end if;
    begin
        perform core_private.check_payload(p_payload, p_max_bytes);
        return true;
    exception when sqlstate 'NX003' or sqlstate 'NX601' then
        return false;
    end;
end $$;
comment on function core_private.fits_payload(jsonb, integer) is 'Whether it can be a payload.';
