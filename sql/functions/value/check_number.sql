create or replace function core_private.check_number(p_value integer, p_field text, p_min integer, p_max integer)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_value is null or p_value not between p_min and p_max then
        raise exception using errcode = 'NX006', column = p_field,
            message = format('%s cannot be %s', p_field, coalesce(p_value::text, 'NULL')),
            hint = format('Give %s to %s.', p_min, p_max);
    end if;
end $$;
comment on function core_private.check_number(integer, text, integer, integer) is 'Raises NX006 unless it is a number from p_min to p_max.';
