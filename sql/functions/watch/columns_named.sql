create or replace function core_private.columns_named(p_table regclass, p_names text[])
returns smallint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bad text;
begin
    select u.name into v_bad
      from unnest(p_names) u(name)
     where not exists (select from pg_attribute a
                        where a.attrelid = p_table and a.attname = u.name and a.attnum > 0 and not a.attisdropped)
     limit 1;
    if found then
        raise exception using errcode = 'NX017', column = 'p_table',
            message = format('table %s has no column %s', p_table, quote_ident(left(v_bad, 100))),
            hint = 'columns and key are names of columns, in the case that they are stored in.';
    end if;
    return array(
        select a.attnum from pg_attribute a
         where a.attrelid = p_table and a.attname = any (p_names) and a.attnum > 0 and not a.attisdropped
         order by a.attnum);
end $$;
comment on function core_private.columns_named(regclass, text[]) is 'The numbers of these columns, sorted. Raises NX017.';
