create or replace function core_private.check_types(p_types text[])
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_type text;
begin
    if cardinality(p_types) > 2000 then
        raise exception using errcode = 'NX006', column = 'p_types',
            message = format('there are %s types, more than 2000', cardinality(p_types)),
            hint = 'Give up to 2000; a pattern such as "prefix.*" stands for many.';
    end if;
    foreach v_type in array coalesce(p_types, '{}') loop
        perform core_private.check_pattern(v_type, 'p_types');
    end loop;
end $$;
comment on function core_private.check_types(text[]) is 'Raises NX006 for more than 2000, NX008 unless each is a pattern.';
