create or replace function core_private.stored_value(p_text text, p_max integer, out value jsonb, out why text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    value := p_text::jsonb;
    if value is not null then
        perform core_private.check_payload(value, p_max, 'p_value');
    end if;
exception when data_exception or program_limit_exceeded or sqlstate 'NX003' or sqlstate 'NX601' then
    value := null;
    why := sqlerrm;
end $$;
comment on function core_private.stored_value(text, integer) is 'What a step returned as it is stored, or why it cannot be.';
