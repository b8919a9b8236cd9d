create or replace function core_private.parse_rate(p_value jsonb)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts text[] := regexp_match(case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end,
                                   '^ *([0-9]{1,7}) */ *(s|sec|second|min|minute|h|hour) *$');
begin
    if v_parts is null or v_parts[1]::integer = 0 then
        perform core_private.fail_option('rate', p_value,
            'Give a number, 1 to 9999999, and a time, such as "100/min": s, min or h.');
    end if;
    return format('%s/%s', v_parts[1]::integer,
                  case left(v_parts[2], 1) when 's' then 's' when 'm' then 'min' else 'h' end);
end $$;
comment on function core_private.parse_rate(jsonb) is 'A rate such as "100/min" in its one form: n/s, n/min or n/h. Raises NX005.';
