create or replace function core_private.seconds_each(p_rate text)
returns double precision
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case substring(p_rate from '/(.*)$') when 's' then 1 when 'min' then 60 else 3600 end
           / split_part(p_rate, '/', 1)::double precision;
end $$;
comment on function core_private.seconds_each(text) is 'The seconds from one to the next at a rate such as 100/min.';
