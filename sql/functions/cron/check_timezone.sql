create or replace function core_private.check_timezone(p_timezone text, p_column text = 'timezone')
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text;
    v_fold text := lower(p_timezone collate "C");
begin
    select z.name into v_name from core_private.timezones z where lower(z.name collate "C") = v_fold;
    if not found then
        raise exception using errcode = 'NX012', column = p_column,
            message = case when p_timezone is null then 'the time zone is missing'
                           when p_timezone ~ '^[ -~]{1,100}$' then format('there is no time zone "%s"', p_timezone)
                           else 'there is no such time zone' end,
            hint = case when v_fold ~ '^[a-z]{3,5}$' or v_fold ~ '^[a-z]{3,5}[-+]?[0-9]' or p_timezone ~ '^[-+]?[0-9]'
                        then 'Abbreviations and offsets know no summer time: '
                             || 'name a place, such as "Europe/Berlin" or "America/New_York", or "UTC".'
                        else coalesce(
                            (select format('Did you mean "%s"?', z.name)
                               from core_private.timezones z
                              where lower(split_part(z.name, '/', -1) collate "C")
                                    = replace(split_part(v_fold, '/', -1), ' ', '_')
                              order by length(z.name), z.name
                              limit 1),
                            'Use an IANA name, such as "Europe/Berlin", "America/New_York" or "UTC".') end;
    end if;
    return v_name;
end $$;
comment on function core_private.check_timezone(text, text) is 'The name of a time zone in its canonical spelling; p_column is named by its errors. Raises NX012.';
