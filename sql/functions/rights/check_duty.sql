create or replace function core_private.check_duty(p_duty text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if core_private.duty_role(p_duty) is null then
        raise exception using errcode = 'NX006', column = 'p_duty',
            message = format('there is no duty %s', coalesce(quote_literal(left(p_duty, 100)), 'NULL')),
            hint = 'Duties: produce, consume, operate, read.';
    end if;
end $$;
comment on function core_private.check_duty(text) is 'Raises NX006 unless it is a duty.';
