-- S4, worked out by hand from the zones' rules. Each line: expression, zone, after, the next slot, in UTC.
-- holds: S3-every, S4 (by hand), others-dst
select is(core_private.next_slot(core_private.compile_cron(e), z, a::timestamptz) at time zone 'UTC', w::timestamp, format('%s %s after %s: %s', e, z, a, why))
  from (values
    ('30 2 * * *', 'Europe/Berlin', '2026-03-28 12:00Z', '2026-03-29 01:30', 'no 02:30: the offset before the gap makes it 03:30'),
    ('30 2 * * *', 'Europe/Berlin', '2026-03-29 01:29:59.999999Z', '2026-03-29 01:30', 'still due after the gap'),
    ('30 2 * * *', 'Europe/Berlin', '2026-03-29 01:30Z', '2026-03-30 00:30', 'strictly after'),
    ('30 2-3 * * *', 'Europe/Berlin', '2026-03-29 01:30Z', '2026-03-30 00:30', '02:30 and 03:30 fell on one instant'),
    ('0 3 * * *', 'Europe/Berlin', '2026-03-28 12:00Z', '2026-03-29 01:00', '03:00 exists'),
    ('30 2 * * *', 'Europe/Berlin', '2026-10-24 12:00Z', '2026-10-25 00:30', 'the first 02:30'),
    ('30 2 * * *', 'Europe/Berlin', '2026-10-25 00:30Z', '2026-10-26 01:30', 'not the second'),
    ('*/30 * * * *', 'Europe/Berlin', '2026-10-25 00:30Z', '2026-10-25 01:00', 'a wildcard runs through the repeated hour'),
    ('*/30 2 * * *', 'Europe/Berlin', '2026-10-25 00:30Z', '2026-10-25 01:00', 'and in both passes'),
    ('*/30 2 * * *', 'Europe/Berlin', '2026-03-28 12:00Z', '2026-03-30 00:00', 'and not in a gap'),
    ('0 * * * *', 'Europe/Berlin', '2026-03-29 00:00Z', '2026-03-29 01:00', 'no hour of real time is left out'),
    ('0 2 * * *', 'America/New_York', '2026-03-08 00:00Z', '2026-03-08 07:00', 'gap'),
    ('30 1 * * *', 'America/New_York', '2026-10-31 12:00Z', '2026-11-01 05:30', 'the first 01:30'),
    ('30 1 * * *', 'America/New_York', '2026-11-01 05:30Z', '2026-11-02 06:30', 'once'),
    ('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03 12:00Z', '2026-10-03 15:45', 'a gap of half an hour'),
    ('0 3 * * *', 'Australia/Lord_Howe', '2026-10-03 12:00Z', '2026-10-03 16:00', 'the time right behind it'),
    ('45 1 * * *', 'Australia/Lord_Howe', '2027-04-03 12:00Z', '2027-04-03 14:45', 'half an hour comes twice'),
    ('*/15 1 * * *', 'Australia/Lord_Howe', '2027-04-03 14:45Z', '2027-04-03 15:00', 'and a wildcard runs twice'),
    ('0 9 * * *', 'Asia/Kolkata', '2026-06-01 00:00Z', '2026-06-01 03:30', 'half-hour offset'),
    ('0 3 * * *', 'Pacific/Chatham', '2026-09-26 00:00Z', '2026-09-26 14:15', 'gap at 02:45'),
    ('0 12 * * *', 'Pacific/Apia', '2011-12-29 22:00Z', '2011-12-30 22:00', 'the missing December 30 is one run with the 31st'),
    ('0 12 * * *', 'Pacific/Apia', '2011-12-30 22:00Z', '2011-12-31 22:00', 'January 1'),
    ('0 * 30 * *', 'Pacific/Apia', '2011-12-02 00:00Z', '2012-01-29 10:00', 'no wildcard slot on a day that never was'),
    ('0 0 * * *', 'Africa/Cairo', '2026-04-23 12:00Z', '2026-04-23 22:00', 'a day without a midnight'),
    ('*/30 0 * * *', 'Africa/Cairo', '2026-04-23 12:00Z', '2026-04-24 21:00', 'nor an hour 0'),
    ('30 0 * * *', 'Asia/Beirut', '2026-03-28 12:00Z', '2026-03-28 22:30', 'a day without a midnight'),
    ('39 * * * sat', 'Asia/Beirut', '2026-10-24 20:47Z', '2026-10-24 21:39', 'the last hour of a day comes twice, though the next day that matches is far'),
    ('30 2 * * *', 'Africa/Casablanca', '2026-02-15 00:00Z', '2026-02-15 01:30', 'Ramadan: the first 02:30'),
    ('30 2 * * *', 'Africa/Casablanca', '2026-03-22 00:00Z', '2026-03-22 02:30', 'and the gap after it'),
    ('30 1 * * *', 'Antarctica/Troll', '2026-03-29 00:00Z', '2026-03-29 01:30', 'two hours forward'),
    ('30 1 * * *', 'Antarctica/Troll', '2026-10-24 12:00Z', '2026-10-24 23:30', 'two hours back'),
    ('0 0 29 2 *', 'UTC', '2097-01-01 00:00Z', '2104-02-29 00:00', 'no leap year in 2100'),
    ('0 0 13 * 5', 'UTC', '2026-11-01 00:00Z', '2026-11-06 00:00', 'either day field'),
    ('0 0 * * 7', 'UTC', '2026-11-01 00:00Z', '2026-11-08 00:00', 'seven is Sunday')
  ) c(e, z, a, w, why);

-- Nothing of the session's zone gets in.
create temp table seen as
select e, z, a, core_private.next_slot(core_private.compile_cron(e), z, a) s
  from unnest(array['30 2 * * *', '*/20 * * * *', '0 0 1 * *', '59 23 31 12 *']) e, unnest(array['Europe/Berlin', 'Africa/Cairo', 'Australia/Lord_Howe']) z,
       generate_series('2026-01-01Z'::timestamptz, '2026-12-31Z', interval '63 hours') a;
set local timezone = 'America/St_Johns';
select is((select count(*)::int from seen where s is distinct from core_private.next_slot(core_private.compile_cron(e), z, a)), 0, 'the same in St. John''s');
set local timezone = 'Pacific/Apia';
select is((select count(*)::int from seen where s is distinct from core_private.next_slot(core_private.compile_cron(e), z, a)), 0, 'the same in Apia');

-- @every
select is(core_private.next_slot('{"kind": "every", "seconds": 90}', 'UTC', a::timestamptz, '2026-01-01 00:00:10Z') at time zone 'UTC', w::timestamp, format('every 90 s from :10, after %s', a))
  from (values ('2025-12-01 00:00Z', '2026-01-01 00:00:10'), ('2026-01-01 00:00:10Z', '2026-01-01 00:01:40'), ('2026-01-01 00:01:39.999999Z', '2026-01-01 00:01:40'),
               ('2026-03-29 00:59:00Z', '2026-03-29 01:00:10')) c(a, w);
select is(core_private.next_slot('{"kind": "every", "seconds": 90}', 'UTC', '2026-01-01Z') at time zone 'UTC', '2026-01-01 00:01:30', 'without an anchor, from there on');
select is(core_private.next_slot(core_private.compile_cron('0 0 * * *'), 'UTC', a::timestamptz), null, format('nothing after %s', coalesce(a, 'NULL')))
  from unnest(array['infinity', '-infinity', null]) a;
