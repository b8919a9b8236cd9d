create or replace function core_private.parse_match_back(
    p_value jsonb, out from_time timestamptz, out rate text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from jsonb := p_value;
begin
    if jsonb_typeof(p_value) = 'object' then
        perform core_private.check_option_keys(p_value, '{from,rate}');
        v_from := coalesce(p_value -> 'from', 'null');
        if p_value ? 'rate' then
            rate := core_private.parse_rate(p_value -> 'rate');
        end if;
    end if;
    from_time := core_private.parse_from(v_from, 'match_back');
end $$;
comment on function core_private.parse_match_back(jsonb) is 'Since when a trigger is to look back, NULL for "now", and at which rate: "beginning", a time, or an object with from and rate. Raises NX004, NX005.';
