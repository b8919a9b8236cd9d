-- A field that is not *: */N, or a comma list of V, V-V and V-V/N. o_bits has a bit for each value from the lowest;
-- o_text is what is stored: no leading zeros, no step of one, names in lower case, weekday 7 as 0. robfig/cron and
-- every pg_cron read o_text the same way. Package schedule in Go has the same code once more, and a fuzz test holds the
-- two together.
create or replace function core_private.cron_field(
    p_expression text, p_column text, p_field text, p_text text, p_position integer,
    out o_text text, out o_bits bit varying)
returns record
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lo    constant integer := case when p_field in ('day', 'month') then 1 else 0 end;
    v_hi    constant integer := case p_field
        when 'minute' then 59
        when 'hour' then 23
        when 'day' then 31
        when 'month' then 12
        else 6 end;
    v_names constant text[] := case p_field
        when 'month' then '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'::text[]
        when 'weekday' then '{sun,mon,tue,wed,thu,fri,sat}'::text[] end;
    v_set   text := repeat('0', v_hi - v_lo + 1);
    v_out   text[] := '{}';
    v_at    integer := p_position;   -- of the item
    v_item  text;
    v_given text;                    -- the item as it was written
    v_m     text[];
    v_v     integer[];               -- the ends of the range
    v_step  integer;
begin
    v_m := regexp_match(p_text, '^[*]/([0-9]+)$');
    if v_m is not null then
        v_step := case when length(v_m[1]) <= 2 then v_m[1]::integer else 0 end;
        if v_step not between 1 and v_hi then
            perform core_private.fail_cron(p_expression, p_column, p_field, p_position + 2,
                format('step %s is not between 1 and %s', left(v_m[1], 20), v_hi),
                format('Choose a step from 1 to %s; it counts within one round of the field.', v_hi));
        end if;
        o_text := case when v_step = 1 then '*' else '*/' || v_step end;
        o_bits := left(repeat('1' || repeat('0', v_step - 1), v_hi + 1), v_hi - v_lo + 1)::bit varying;
        return;
    end if;
    foreach v_item in array string_to_array(lower(p_text collate "C"), ',') loop
        v_given := substr(p_expression, v_at, length(v_item));
        v_m := regexp_match(v_item, '^([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?(?:/([0-9]+))?$');
        if v_m is null or v_m[1] in ('l', 'w', 'h', 'r', 'lw') then
            perform core_private.fail_cron(p_expression, p_column, p_field, v_at,
                case when v_item = ''
                     then 'an item of the list is empty'
                     when v_item ~ '^[!-~]{1,40}$'
                     then format('cannot read "%s"', v_given)
                     else 'cannot read it' end,
                case when v_item = ''
                     then 'Take out the comma, or write a value beside it.'
                     when v_item = '?'
                     then 'Write "*".'
                     when position('*' in v_item) > 0
                     then format('"*" stands alone, or as */N with N from 1 to %s.', v_hi)
                     when v_item ~ '[lw#$]'
                     then 'Last days, nearest workdays and nth weekdays do not exist here. '
                          || core_private.cron_grammar(p_field)
                     else core_private.cron_grammar(p_field) end);
        end if;
        v_v := '{}';
        for i in 1..2 loop
            exit when v_m[i] is null;
            v_v[i] := case when v_m[i] ~ '^[0-9]' then case when length(v_m[i]) <= 2 then v_m[i]::integer else 100 end
                           else array_position(v_names, v_m[i]) - 1 + v_lo end;
            if v_v[i] is null then
                perform core_private.fail_cron(p_expression, p_column, p_field,
                    v_at + case i when 1 then 0 else length(v_m[1]) + 1 end,
                    format('there is no %s "%s"', p_field,
                           left(substr(v_given,
                                       case i when 1 then 1 else length(v_m[1]) + 2 end,
                                       length(v_m[i])), 40)),
                    case when v_names is null
                         then core_private.cron_grammar(p_field)
                         when left(v_m[i], 3) = any (v_names)
                         then format('Write "%s": names have three letters.', left(v_m[i], 3))
                         else format('Names are %s.', array_to_string(v_names, ', ')) end);
            elsif v_v[i] < v_lo or v_v[i] > v_hi + (p_field = 'weekday')::integer then
                perform core_private.fail_cron(p_expression, p_column, p_field,
                    v_at + case i when 1 then 0 else length(v_m[1]) + 1 end,
                    format('%s is not between %s and %s',
                           left(v_m[i], 20), v_lo, v_hi + (p_field = 'weekday')::integer),
                    core_private.cron_grammar(p_field));
            end if;
        end loop;
        v_step := case when v_m[3] is null then 1 when length(v_m[3]) <= 2 then v_m[3]::integer else 0 end;
        if v_step not between 1 and v_hi then
            perform core_private.fail_cron(p_expression, p_column, p_field, v_at + position('/' in v_item),
                format('step %s is not between 1 and %s', left(v_m[3], 20), v_hi),
                format('Choose a step from 1 to %s; it counts within one round of the field.', v_hi));
        elsif v_m[3] is not null and v_m[2] is null then
            perform core_private.fail_cron(p_expression, p_column, p_field, v_at,
                format('"%s" has a step but no range', left(v_given, 40)),
                format('Write "%s-%s/%s" for every %s from there on.',
                    case when v_v[1] > v_hi then v_lo::text else v_m[1] end, v_hi, v_m[3], v_m[3]));
        elsif v_v[2] < v_v[1] then
            perform core_private.fail_cron(p_expression, p_column, p_field, v_at,
                format('the range %s-%s runs backwards', v_m[1], v_m[2]),
                format('Split it in two: "%s,%s".',
                    case when v_v[1] >= v_hi then v_m[1] else v_m[1] || '-' || v_hi end,
                    case when v_v[2] = v_lo then v_m[2] else v_lo || '-' || v_m[2] end));
        end if;
        v_v[2] := coalesce(v_v[2], v_v[1]);
        for i in v_v[1]..v_v[2] by v_step loop
            v_set := overlay(v_set placing '1' from case p_field when 'weekday' then i % 7 else i - v_lo end + 1 for 1);
        end loop;
        v_out := v_out || case
            when v_v[2] = 7 and p_field = 'weekday' then
                case when v_v[1] = 0 and v_step = 1 then '0-6'
                     else (select string_agg((i % 7)::text, ',' order by i)
                             from generate_series(v_v[1], 7, v_step) i) end
            else coalesce(ltrim(v_m[1], '0') || repeat('0', (v_m[1] ~ '^0+$')::integer), '')
                 || case when v_v[2] > v_v[1] then '-' || ltrim(v_m[2], '0') else '' end
                 || case when v_v[2] > v_v[1] and v_step > 1 then '/' || v_step else '' end
            end;
        v_at := v_at + length(v_item) + 1;
    end loop;
    o_text := array_to_string(v_out, ',');
    o_bits := v_set::bit varying;
end $$;
comment on function core_private.cron_field(text, text, text, text, integer) is 'A field of a cron expression as it is stored, and as bits. Raises NX011.';
