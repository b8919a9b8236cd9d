-- S3: what is accepted, and how it is stored
-- holds: S3
select is(core_private.compile_cron(e) ->> 'expression', w, format('%s is stored as %s', e, w))
  from (values
    ('  05  04 * * *' || E'\t', '5 4 * * *'), ('*/1 */5 * * *', '* */5 * * *'), ('0 0 1,15 JAN-mar,12 *', '0 0 1,15 jan-mar,12 *'),
    ('0-10/1 3-3 * * *', '0-10 3 * * *'), ('0 0 * * 7', '0 0 * * 0'), ('0 0 * * 5-7', '0 0 * * 5,6,0'), ('0 0 * * 0-7', '0 0 * * 0-6'),
    ('0 0 * * 1-7/2', '0 0 * * 1,3,5,0'), ('0 0 * * 1,7', '0 0 * * 1,0'), ('0 0 * * MON-fri/2', '0 0 * * mon-fri/2'), ('00 00 01 01 *', '0 0 1 1 *'),
    ('@hourly', '0 * * * *'), ('@daily', '0 0 * * *'), ('@midnight', '0 0 * * *'), ('@weekly', '0 0 * * 0'), ('@monthly', '0 0 1 * *'),
    ('@yearly', '0 0 1 1 *'), ('@Annually', '0 0 1 1 *'), ('@every  1h30M', '@every 1h30m'), ('@every 90s', '@every 90s')) c(e, w);
select is(core_private.compile_cron(e) ->> 'class', w, format('%s is %s', e, w))
  from (values ('0 0 * * *', 'fixed'), ('0-59 0-23 * * *', 'fixed'), ('* 0 * * *', 'wildcard'), ('0 * * * *', 'wildcard'), ('0 */6 * * *', 'wildcard')) c(e, w);
select is(core_private.compile_cron(e) -> 'warnings', w::jsonb, format('warnings of %s', e))
  from (values ('0 0 1 * 1', '["Both day and weekday are restricted: it runs when either matches."]'), ('0 0 1 * *', '[]'), ('0 0 1 * */1', '[]'),
               ('0 0 29,30 2 *', '["February 29 comes in leap years only."]'), ('0 0 28-31 2 *', '[]')) c(e, w);
select is(core_private.compile_cron(e) -> 'seconds', to_jsonb(w), e) from (values ('@every 1s', 1), ('@every 1h1m1s', 3661), ('@every 87600h', 315360000)) c(e, w);
