-- A calendar without time zones. Bits are looked up with position(), so that a step costs the same for one candidate
-- and for thirty.
create or replace function core_private.next_local_minute(p_bits bit varying, p_from timestamp)
returns timestamp
language plpgsql immutable parallel safe strict
set search_path = pg_catalog, pg_temp
as $$
declare
    v_minutes integer := extract(epoch from p_from::time)::integer / 60;
    v_year    integer := extract(year from p_from);
    v_month   integer := extract(month from p_from);
    v_day     integer := extract(day from p_from);
    v_hour    integer := v_minutes / 60;
    v_minute  integer := v_minutes % 60;
    v_until   constant integer := v_year + 9;      -- February 29 skips eight years around 2100
    v_months  constant bit varying := substring(p_bits from 116 for 12);
    v_days    bit varying;                         -- of the month at hand, day and weekday taken together
    v_last    integer;
    v_p       integer;
    v_q       integer;
begin
    loop
        v_p := position(B'1' in substring(v_months from v_month));
        if v_p = 0 then
            v_year := v_year + 1;
            v_month := 1;
            v_day := 1;
            v_hour := 0;
            v_minute := 0;
            exit when v_year > v_until;
            continue;
        elsif v_p > 1 then
            v_month := v_month + v_p - 1;
            v_day := 1;
            v_hour := 0;
            v_minute := 0;
        end if;
        v_days := substring(p_bits from 128 + extract(dow from make_date(v_year, v_month, 1))::integer for 31);
        v_days := case when get_bit(p_bits, 169) = 1 then substring(p_bits from 85 for 31) & v_days
                       else substring(p_bits from 85 for 31) | v_days end;
        v_last := case when v_month = 2
                       then case when v_year % 4 = 0 and (v_year % 100 <> 0 or v_year % 400 = 0) then 29 else 28 end
                       when v_month in (4, 6, 9, 11)
                       then 30
                       else 31 end;
        loop
            exit when v_day > v_last;
            v_p := position(B'1' in substring(v_days from v_day));
            exit when v_p = 0;
            if v_p > 1 then
                v_day := v_day + v_p - 1;
                v_hour := 0;
                v_minute := 0;
                exit when v_day > v_last;
            end if;
            v_p := position(B'1' in substring(p_bits from 61 + v_hour for 24 - v_hour));
            if v_p > 0 then
                if v_p > 1 then
                    v_hour := v_hour + v_p - 1;
                    v_minute := 0;
                end if;
                v_q := position(B'1' in substring(p_bits from 1 + v_minute for 60 - v_minute));
                if v_q > 0 then
                    return make_timestamp(v_year, v_month, v_day, v_hour, v_minute + v_q - 1, 0);
                elsif v_hour < 23 then
                    v_p := position(B'1' in substring(p_bits from 62 + v_hour for 23 - v_hour));
                    if v_p > 0 then
                        return make_timestamp(v_year, v_month, v_day, v_hour + v_p, position(B'1' in p_bits) - 1, 0);
                    end if;
                end if;
            end if;
            v_day := v_day + 1;
            v_hour := 0;
            v_minute := 0;
        end loop;
        v_month := v_month + 1;
        v_day := 1;
        v_hour := 0;
        v_minute := 0;
        if v_month > 12 then
            v_month := 1;
            v_year := v_year + 1;
            exit when v_year > v_until;
        end if;
    end loop;
    return null;
end $$;
comment on function core_private.next_local_minute(bit varying, timestamp) is 'The first minute not before p_from, on the wall clock, that the bits of a compiled cron expression name; NULL if none comes within nine years.';
