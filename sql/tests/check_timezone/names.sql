-- S4: names of zones
-- holds: S4
select is(core_private.check_timezone(n), w, format('%s is %s', n, w))
  from (values ('Europe/Berlin', 'Europe/Berlin'), ('europe/BERLIN', 'Europe/Berlin'), ('utc', 'UTC'), ('GMT', 'GMT'), ('pacific/easter', 'Pacific/Easter'),
               ('america/argentina/buenos_aires', 'America/Argentina/Buenos_Aires'), ('etc/gmt+5', 'Etc/GMT+5')) c(n, w);
select throws_ok(format('select core_private.check_timezone(%L)', n), 'NX012', null, coalesce(n, 'NULL') || ' is refused')
  from unnest(array[null, '', ' UTC', 'CET', 'EET', 'WET', 'MET', 'EST', 'MST', 'HST', 'cest', 'PST8PDT', 'EST5EDT', 'UTC+2', '+02', '02:00', '<+02>-2', 'GMT0',
                    'posix/Europe/Berlin', 'right/UTC', 'posixrules', 'localtime', 'Factory', 'Zulu', 'Z', 'Berlin', 'Europe/Berlin ', 'Mars/Olympus', '../etc/passwd', repeat('x', 5000)]) n;
create function pg_temp.zone_hint(n text) returns text language plpgsql as $$
declare h text; c text;
begin
    perform core_private.check_timezone(n, 'the_column');
exception when sqlstate 'NX012' then
    get stacked diagnostics h = pg_exception_hint, c = column_name;
    return c || ': ' || h;
end $$;
select is(pg_temp.zone_hint('berlin'), 'the_column: Did you mean "Europe/Berlin"?', 'a city');
select is(pg_temp.zone_hint('New York'), 'the_column: Did you mean "America/New_York"?', 'a city with a blank');
select matches(pg_temp.zone_hint('CET'), 'Abbreviations and offsets know no summer time', 'an abbreviation');
select matches(pg_temp.zone_hint('Mars/Olympus'), 'IANA', 'none at all');

-- New zone data.
select is(core_private.refresh_timezones(), '{"added": 0, "changed": [], "removed": []}'::jsonb, 'nothing is new');
update core_private.timezones set changes = 'other rules' where name = 'Europe/Berlin';
delete from core_private.timezones where name = 'Asia/Tokyo';
insert into core_private.timezones (name, window_from, changes) values ('Europe/Atlantis', '2026-01-01', '');
select is(core_private.refresh_timezones(), '{"added": 1, "changed": ["Europe/Berlin"], "removed": ["Europe/Atlantis"]}'::jsonb, 'what changed is named');
select is((select array_agg(name) from core_private.timezones where changed_at is not null), array['Europe/Berlin'], 'and stamped');
select is(core_private.refresh_timezones(), '{"added": 0, "changed": [], "removed": []}'::jsonb, 'once');
update core_private.timezones set window_from = '2020-01-01', changes = core_private.zone_changes(name, '2020-01-01', '2022-01-01');
select is(core_private.refresh_timezones() -> 'changed', '[]'::jsonb, 'a new year is no change');
select is((select count(distinct window_from)::int from core_private.timezones), 1, 'but the window moves on');
select isnt((select window_from from core_private.timezones where name = 'UTC'), '2020-01-01', 'with the year');
select is(core_private.zone_changes('Europe/Berlin', '2026-01-01', '2027-01-01'), '01:00:00, 2026-03-29 01:00:00 02:00:00, 2026-10-25 01:00:00 01:00:00', 'changes to the minute');
