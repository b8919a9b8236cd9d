-- The strict dialect on which robfig/cron and all versions of pg_cron agree: pg_cron itself takes much more without a
-- word and means something else by it. spec is what next_slot reads:
--   kind cron:  expression (as stored), class fixed | wildcard, warnings, bits
--   kind every: expression, seconds, warnings
-- bits, from the left: 60 minutes, 24 hours, 31 days, 12 months, the week from Sunday six times over, so that a month's
-- weekdays are one substring whatever day it begins on, and last 1 if both day fields must match, 0 if either is
-- enough.
create or replace function core_private.compile_cron(p_expression text, p_column text = 'cron_expression')
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text     text := lower(btrim(p_expression, E' \t') collate "C");
    v_start    integer;                 -- where v_text begins
    v_names    constant text[] := '{minute,hour,day,month,weekday}';
    v_fields   text[];                  -- as stored
    v_at       integer[];
    v_bits     bit varying[];
    v_field    record;
    v_m        text[];
    v_seconds  bigint;
    v_warnings text[] := '{}';
    v_at_once  boolean;                 -- both day fields must match
    v_day      integer;
begin
    if p_expression is null or v_text = '' then
        perform core_private.fail_cron(null, p_column, 'expression', 1,
            'it is missing', 'Give five fields, such as "30 2 * * *", or "@every 90s".');
    end if;
    v_start := length(p_expression) - length(ltrim(p_expression, E' \t')) + 1;
    if length(p_expression) > 1000 then
        perform core_private.fail_cron(null, p_column, 'expression', 1001,
            'it is longer than 1000 characters', 'Use ranges and steps in place of long lists.');
    end if;
    if p_expression ~ E'[\\u0001-\\u0008\\u000a-\\u001f\\u007f-\\u009f]' then
        perform core_private.fail_cron(null, p_column, 'expression',
            regexp_instr(p_expression, E'[\\u0001-\\u0008\\u000a-\\u001f\\u007f-\\u009f]'),
            'there is a control character', 'Take it out: fields are separated by blanks or tabs.');
    end if;

    if left(v_text, 1) = '@' then
        if v_text ~ E'^@every([ \t]|$)' then
            v_m := regexp_match(
                v_text, E'^@every[ \t]+(?=[0-9])(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?$');
            if v_m is null then
                perform core_private.fail_cron(p_expression, p_column, 'interval',
                    v_start + coalesce(nullif(regexp_instr(v_text, E'[^ \t]', 7), 0), length(v_text) + 1) - 1,
                    'it is no interval',
                    'Write whole hours, minutes and seconds, such as "@every 90s" or "@every 1h30m".');
            end if;
            v_seconds := coalesce(v_m[1]::bigint, 0) * 3600
                         + coalesce(v_m[2]::bigint, 0) * 60
                         + coalesce(v_m[3]::bigint, 0);
            if v_seconds not between 1 and 315360000 then
                perform core_private.fail_cron(p_expression, p_column, 'interval',
                    v_start + regexp_instr(v_text, E'[^ \t]', 7) - 1,
                    format('%s seconds is out of range', v_seconds), 'An interval is from 1s to 87600h.');
            end if;
            return jsonb_build_object(
                'kind', 'every',
                'expression', regexp_replace(v_text, E'[ \t]+', ' '),
                'seconds', v_seconds,
                'warnings', '[]'::jsonb);
        end if;
        v_text := case v_text
            when '@hourly' then '0 * * * *'
            when '@daily' then '0 0 * * *'
            when '@midnight' then '0 0 * * *'
            when '@weekly' then '0 0 * * 0'
            when '@monthly' then '0 0 1 * *'
            when '@yearly' then '0 0 1 1 *'
            when '@annually' then '0 0 1 1 *' end;
        if v_text is null then
            perform core_private.fail_cron(p_expression, p_column, 'expression', v_start, 'there is no such shorthand',
                'Use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or @every with an interval.');
        end if;
    elsif v_text ~ '^(cron_)?tz=' then
        perform core_private.fail_cron(p_expression, p_column, 'expression', v_start,
            'the time zone does not belong here', 'Take it out and set the time zone of the task.');
    elsif v_text ~ E'^[0-9]+[ \t]+seconds?$' then
        perform core_private.fail_cron(p_expression, p_column, 'expression', v_start,
            'intervals are written another way',
            format('Write "@every %ss".', left(substring(v_text from '^[0-9]+'), 20)));
    end if;

    v_fields := regexp_split_to_array(v_text, E'[ \t]+');
    if cardinality(v_fields) <> 5 then
        perform core_private.fail_cron(p_expression, p_column, 'expression',
            case when cardinality(v_fields) > 5
                 then v_start + regexp_instr(v_text, E'[^ \t]+', 1, 6) - 1
                 else v_start + length(v_text) end,
            format('expected 5 fields, found %s', cardinality(v_fields)),
            case when cardinality(v_fields) < 5
                 then 'Give minute, hour, day, month and weekday; "*" stands for any.'
                 when cardinality(v_fields) = 6 and v_fields[6] ~ '^(utc|gmt|z|[a-z_]+/[a-z_/+0-9-]+)$'
                 then 'Take the time zone out and set the time zone of the task.'
                 when v_fields[6] !~ '^[-0-9*?,/lw#]+$' and v_fields[6] !~ '^(sun|mon|tue|wed|thu|fri|sat)([-,#]|$)'
                 then 'That is a line of a crontab: keep its first five fields. '
                      || 'What runs is whatever handles the event of the task.'
                 else 'Keep minute, hour, day, month and weekday: there are no seconds and no years. '
                      || 'Below a minute use @every.' end);
    end if;
    for i in 1..5 loop
        v_at[i] := v_start + regexp_instr(v_text, E'[^ \t]+', 1, i) - 1;
        if v_fields[i] = '*' then
            v_bits[i] := repeat('1', (array[60, 24, 31, 12, 7])[i]);
            continue;
        end if;
        v_field := core_private.cron_field(p_expression, p_column, v_names[i], v_fields[i], v_at[i]);
        v_fields[i] := v_field.o_text;
        v_bits[i] := v_field.o_bits;
    end loop;

    if v_fields[3] like '*/%' and v_fields[5] <> '*' then
        perform core_private.fail_cron(p_expression, p_column, 'day', v_at[3],
            'a step beside a restricted weekday is ambiguous: schedulers differ in whether both must match',
            format('Write "1-31%s" to run when either matches, or make one of the two "*".', substr(v_fields[3], 2)));
    elsif v_fields[5] like '*/%' and v_fields[3] <> '*' then
        perform core_private.fail_cron(p_expression, p_column, 'weekday', v_at[5],
            'a step beside a restricted day is ambiguous: schedulers differ in whether both must match',
            format('Write "0-6%s" to run when either matches, or make one of the two "*".', substr(v_fields[5], 2)));
    end if;
    v_at_once := v_fields[3] = '*' or v_fields[5] = '*' or v_fields[3] like '*/%' or v_fields[5] like '*/%';
    if not v_at_once then
        v_warnings := v_warnings || 'Both day and weekday are restricted: it runs when either matches.'::text;
    elsif v_fields[5] = '*' then
        v_day := position(B'1' in v_bits[3]);
        if v_day > 29 and position(
               B'1' in v_bits[4] & case v_day when 30 then B'101111111111' else B'101010110101' end) = 0 then
            perform core_private.fail_cron(p_expression, p_column, 'day', v_at[3],
                'none of the months has such a day: it would never run',
                'Choose a day that comes: February has 28 or 29, April, June, September and November have 30.');
        elsif v_day >= 29 and v_bits[4] = B'010000000000' then
            v_warnings := v_warnings || 'February 29 comes in leap years only.'::text;
        end if;
    end if;
    return jsonb_build_object(
        'kind', 'cron',
        'expression', array_to_string(v_fields, ' '),
        'class', case when v_fields[1] like '*%' or v_fields[2] like '*%' then 'wildcard' else 'fixed' end,
        'bits', (v_bits[1] || v_bits[2] || v_bits[3] || v_bits[4]
                 || v_bits[5] || v_bits[5] || v_bits[5] || v_bits[5] || v_bits[5] || v_bits[5]
                 || case when v_at_once then B'1' else B'0' end)::text,
        'warnings', to_jsonb(v_warnings));
end $$;
comment on function core_private.compile_cron(text, text) is 'A cron expression or @every interval in the form that next_slot reads; p_column is named by its errors. Raises NX011.';
