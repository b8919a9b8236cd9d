-- S3: whatever is refused, by field and position, with the mend
-- holds: S3
create function pg_temp.refusal(e text) returns text[] language plpgsql as $$
declare m text; h text; c text;
begin
    perform core_private.compile_cron(e, 'c');
    return array['accepted'];
exception when sqlstate 'NX011' then
    get stacked diagnostics m = message_text, h = pg_exception_hint, c = column_name;
    return array[c, substring(m from ': (\w+, position \d+): '), h];
end $$;
select is(pg_temp.refusal(e), array['c', at, hint], coalesce(nullif(e, ''), 'nothing'))
  from (values
    (null, 'expression, position 1', 'Give five fields, such as "30 2 * * *", or "@every 90s".'),
    (' ', 'expression, position 1', 'Give five fields, such as "30 2 * * *", or "@every 90s".'),
    ('* * * *', 'expression, position 8', 'Give minute, hour, day, month and weekday; "*" stands for any.'),
    (' * * * * *  5', 'expression, position 13', 'Keep minute, hour, day, month and weekday: there are no seconds and no years. Below a minute use @every.'),
    ('0 0 * * * root', 'expression, position 11', 'That is a line of a crontab: keep its first five fields. What runs is whatever handles the event of the task.'),
    ('*/5 * * * * /usr/bin/backup --all', 'expression, position 13', 'That is a line of a crontab: keep its first five fields. What runs is whatever handles the event of the task.'),
    ('0 7 * * * Europe/Berlin', 'expression, position 11', 'Take the time zone out and set the time zone of the task.'),
    ('0 7 * * * UTC', 'expression, position 11', 'Take the time zone out and set the time zone of the task.'),
    ('0 0 7 * * MON-FRI', 'expression, position 11', 'Keep minute, hour, day, month and weekday: there are no seconds and no years. Below a minute use @every.'),
    ('5/0 * * * *', 'minute, position 3', 'Choose a step from 1 to 59; it counts within one round of the field.'),
    ('0 0 * * 7/2', 'weekday, position 9', 'Write "0-6/2" for every 2 from there on.'),
    (E'0 0 * *\n*', 'expression, position 8', 'Take it out: fields are separated by blanks or tabs.'),
    (E'0 0 * * *\u0085', 'expression, position 10', 'Take it out: fields are separated by blanks or tabs.'),
    ('@reboot', 'expression, position 1', 'Use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or @every with an interval.'),
    ('@daily x', 'expression, position 1', 'Use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or @every with an interval.'),
    ('@every', 'interval, position 7', 'Write whole hours, minutes and seconds, such as "@every 90s" or "@every 1h30m".'),
    (' @every 90', 'interval, position 9', 'Write whole hours, minutes and seconds, such as "@every 90s" or "@every 1h30m".'),
    ('@every 500ms', 'interval, position 8', 'Write whole hours, minutes and seconds, such as "@every 90s" or "@every 1h30m".'),
    ('@every 0s', 'interval, position 8', 'An interval is from 1s to 87600h.'),
    ('@every 87600h1s', 'interval, position 8', 'An interval is from 1s to 87600h.'),
    ('10 seconds', 'expression, position 1', 'Write "@every 10s".'),
    ('CRON_TZ=Asia/Tokyo 0 0 * * *', 'expression, position 1', 'Take it out and set the time zone of the task.'),
    ('TZ=UTC', 'expression, position 1', 'Take it out and set the time zone of the task.'),
    ('60 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('0 24 * * *', 'hour, position 3', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-23.'),
    ('0 0 0 * *', 'day, position 5', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-31.'),
    ('0 0 1 13 *', 'month, position 7', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-12 or jan-dec.'),
    ('0 0 * * 1,8', 'weekday, position 11', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-7 or sun-sat.'),
    ('4294967296 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('+5 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('1-5-7 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('1~30 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('5;10 * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('5/15 * * * *', 'minute, position 1', 'Write "5-59/15" for every 15 from there on.'),
    ('1,22-2 * * * *', 'minute, position 3', 'Split it in two: "22-59,0-2".'),
    ('0 22-0 * * *', 'hour, position 3', 'Split it in two: "22-23,0".'),
    ('0 0 * * fri-sun', 'weekday, position 9', 'Split it in two: "fri-6,sun".'),
    ('0 0 * * sat-mon', 'weekday, position 9', 'Split it in two: "sat,0-mon".'),
    ('0 0 * * Monday', 'weekday, position 9', 'Write "mon": names have three letters.'),
    ('0 0 * foo *', 'month, position 7', 'Names are jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec.'),
    ('0 0 mon * *', 'day, position 5', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-31.'),
    ('*/0 * * * *', 'minute, position 3', 'Choose a step from 1 to 59; it counts within one round of the field.'),
    ('*/60 * * * *', 'minute, position 3', 'Choose a step from 1 to 59; it counts within one round of the field.'),
    ('0 1,0-10/24 * * *', 'hour, position 10', 'Choose a step from 1 to 23; it counts within one round of the field.'),
    ('0 0 * * */7', 'weekday, position 11', 'Choose a step from 1 to 6; it counts within one round of the field.'),
    ('1,,2 * * * *', 'minute, position 3', 'Take out the comma, or write a value beside it.'),
    ('1, * * * *', 'minute, position 3', 'Take out the comma, or write a value beside it.'),
    (', * * * *', 'minute, position 1', 'Take out the comma, or write a value beside it.'),
    ('1,* * * * *', 'minute, position 3', '"*" stands alone, or as */N with N from 1 to 59.'),
    ('*,1 * * * *', 'minute, position 1', '"*" stands alone, or as */N with N from 1 to 59.'),
    ('*5 * * * *', 'minute, position 1', '"*" stands alone, or as */N with N from 1 to 59.'),
    ('*-5 * * * *', 'minute, position 1', '"*" stands alone, or as */N with N from 1 to 59.'),
    ('**/5 * * * *', 'minute, position 1', '"*" stands alone, or as */N with N from 1 to 59.'),
    ('0 0 ? * *', 'day, position 5', 'Write "*".'),
    ('0 0 L * *', 'day, position 5', 'Last days, nearest workdays and nth weekdays do not exist here. Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-31.'),
    ('0 0 15W * *', 'day, position 5', 'Last days, nearest workdays and nth weekdays do not exist here. Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-31.'),
    ('0 0 $ * *', 'day, position 5', 'Last days, nearest workdays and nth weekdays do not exist here. Use *, */N, or a comma list of V, V-V and V-V/N, where V is 1-31.'),
    ('0 0 * * 6#3', 'weekday, position 9', 'Last days, nearest workdays and nth weekdays do not exist here. Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-7 or sun-sat.'),
    ('H * * * *', 'minute, position 1', 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-59.'),
    ('0 0 */2 * 1', 'day, position 5', 'Write "1-31/2" to run when either matches, or make one of the two "*".'),
    ('0 0 1 * */2', 'weekday, position 9', 'Write "0-6/2" to run when either matches, or make one of the two "*".'),
    ('0 0 */2 * */2', 'day, position 5', 'Write "1-31/2" to run when either matches, or make one of the two "*".'),
    ('0 0 30 2 *', 'day, position 5', 'Choose a day that comes: February has 28 or 29, April, June, September and November have 30.'),
    ('0 0 31 2,4,6,9,11 *', 'day, position 5', 'Choose a day that comes: February has 28 or 29, April, June, September and November have 30.')
  ) c(e, at, hint);
select is((pg_temp.refusal('0 ' || repeat('0,', 500) || '0 * * *'))[2], 'expression, position 1001', 'too long');
select throws_like($$ select core_private.compile_cron('61 * * * *') $$, 'cron expression "61 * * * *": minute, position 1: 61 is not between 0 and 59', 'the message is whole');
select throws_like($$ select core_private.compile_cron(E'0 0 * * \u202e') $$, 'cron expression: weekday, position 9: cannot read it', 'what might not print is not repeated');
select is(core_private.compile_cron('0 0 31 2 5') ->> 'kind', 'cron', 'a weekday comes even if the day does not');
