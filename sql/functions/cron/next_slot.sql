-- All arithmetic is on timestamps in UTC: timestamptz arithmetic would let the session's TimeZone in. v_u, v_w, v_best
-- are UTC, v_l… are wall clock in the zone.
--
-- Fixed (minute and hour are given): each slot of the wall clock is one instant. In a gap the offset before the gap
-- holds, as in RFC 5545 and AT TIME ZONE; of a time that comes twice the first counts, where AT TIME ZONE takes the
-- second. Wildcard (minute or hour begins with *): every instant whose wall clock matches, so both passes of a repeated
-- hour and nothing in a gap. That is what Vixie cron does with the two classes.
create or replace function core_private.next_slot(
    p_spec jsonb, p_timezone text, p_after timestamptz, p_anchor timestamptz = null)
returns timestamptz
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    c_minute constant interval := '1 minute';
    c_near   constant interval := '25 hours';   -- no zone moved its clock by more than a day
    v_bits   bit varying := p_spec ->> 'bits';
    v_after  timestamp;
    v_l      timestamp;
    v_from   timestamp;
    v_u      timestamp;
    v_w      timestamp;
    v_mid    timestamp;
    v_best   timestamp;
    v_l_best timestamp;
    v_offset interval;
    v_gap    interval;
    v_every  bigint;
begin
    if p_after is null or not isfinite(p_after) then
        return null;
    end if;
    if v_bits is null then
        if p_anchor is null then
            return p_after + make_interval(secs => (p_spec ->> 'seconds')::bigint);
        elsif p_after < p_anchor then
            return p_anchor;
        end if;
        v_every := (p_spec ->> 'seconds')::bigint;
        return p_anchor
               + make_interval(secs => (floor(extract(epoch from p_after - p_anchor) / v_every) + 1) * v_every);
    end if;

    v_after := p_after at time zone 'UTC';
    v_from := p_after at time zone p_timezone;
    if p_spec ->> 'class' = 'fixed' then
        -- After a gap, slots that it moved may still be due.
        v_gap := v_from - ((p_after - c_near) at time zone p_timezone) - c_near;
        v_from := date_trunc('minute', v_from) + c_minute;
        if v_gap > interval '0' then
            v_from := v_from - v_gap;
        end if;
        v_l := core_private.next_local_minute(v_bits, v_from);
        while v_l < v_l_best or v_l_best is null loop
            exit when v_l is null;
            v_u := (v_l at time zone p_timezone) at time zone 'UTC';
            v_offset := v_l - v_u;
            v_gap := (((v_u - c_near) at time zone 'UTC') at time zone p_timezone) - (v_u - c_near) - v_offset;
            if v_gap = interval '0'
               and (((v_u + c_near) at time zone 'UTC') at time zone p_timezone) - (v_u + c_near) = v_offset then
                -- The offset doesn't change near it, so that no later slot can come earlier.
                if v_u > v_after then
                    v_best := least(v_best, v_u);
                    exit;
                end if;
            else
                if v_gap > interval '0' and (((v_u - v_gap) at time zone 'UTC') at time zone p_timezone) = v_l then
                    v_u := v_u - v_gap;
                end if;
                if v_u > v_after and (v_best is null or v_u < v_best) then
                    v_best := v_u;
                    v_l_best := (v_u at time zone 'UTC') at time zone p_timezone;
                end if;
            end if;
            v_l := core_private.next_local_minute(v_bits, v_l + c_minute);
        end loop;
        return v_best at time zone 'UTC';
    end if;

    v_u := v_after - (v_from - date_trunc('minute', v_from)) + c_minute;
    while v_u < v_after + interval '9 years' loop
        v_from := (v_u at time zone 'UTC') at time zone p_timezone;
        v_l := core_private.next_local_minute(v_bits, v_from);
        if v_l is null then
            return null;
        end if;
        v_offset := v_from - v_u;
        if v_l - v_from > interval '2 days' then
            -- A far one: go close to it, unless an hour is about to come again, which may hold what lies before v_from.
            v_w := v_u + c_near;
            if ((v_w at time zone 'UTC') at time zone p_timezone) - v_w = v_offset then
                v_u := ((v_l::date - 1)::timestamp at time zone p_timezone) at time zone 'UTC';
                continue;
            end if;
        else
            v_w := v_u + (v_l - v_from);
            if (v_w at time zone 'UTC') at time zone p_timezone = v_l then
                return v_w at time zone 'UTC';
            end if;
        end if;
        -- The offset changes in (v_u, v_w]: go on from the minute where it does.
        while v_w - v_u > c_minute loop
            v_mid := v_u + make_interval(mins => extract(epoch from v_w - v_u)::integer / 120);
            if ((v_mid at time zone 'UTC') at time zone p_timezone) - v_mid = v_offset then
                v_u := v_mid;
            else
                v_w := v_mid;
            end if;
        end loop;
        v_u := v_w;
    end loop;
    return null;
end $$;
comment on function core_private.next_slot(jsonb, text, timestamptz, timestamptz) is 'The first slot after p_after of a compiled expression in a time zone, NULL if none comes within nine years. @every counts from p_anchor, which is a slot itself; without one, from p_after.';
