create or replace function core_private.check_reason(
    p_reason text, p_hint text = 'Say why; it is kept with the dead letter.')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(btrim(p_reason), '') = '' then
        raise exception using errcode = 'NX006', column = 'p_reason', message = 'p_reason is empty', hint = p_hint;
    end if;
end $$;
comment on function core_private.check_reason(text, text) is 'Raises NX006 for a reason that says nothing.';
