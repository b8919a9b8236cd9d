-- Looks at every week, and halves the weeks over which the offset changes down to the minute.
create or replace function core_private.zone_changes(p_timezone text, p_from timestamp, p_until timestamp)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_t      timestamp := p_from;
    v_offset interval := (p_from at time zone 'UTC' at time zone p_timezone) - p_from;
    v_text   text := v_offset;
    v_end    timestamp;
    v_mid    timestamp;
begin
    while v_t < p_until loop
        v_end := v_t + interval '7 days';
        if (v_end at time zone 'UTC' at time zone p_timezone) - v_end <> v_offset then
            while v_end - v_t > interval '1 minute' loop
                v_mid := date_trunc('minute', v_t + (v_end - v_t) / 2);
                if (v_mid at time zone 'UTC' at time zone p_timezone) - v_mid = v_offset then
                    v_t := v_mid;
                else
                    v_end := v_mid;
                end if;
            end loop;
            v_offset := (v_end at time zone 'UTC' at time zone p_timezone) - v_end;
            v_text := v_text || format(', %s %s', v_end, v_offset);
        end if;
        v_t := v_end;
    end loop;
    return v_text;
end $$;
comment on function core_private.zone_changes(text, timestamp, timestamp) is 'The offset of a time zone at p_from and its changes until p_until, in UTC, as text to compare.';
