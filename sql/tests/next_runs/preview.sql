-- holds: S3-every
select is(array(select r at time zone 'UTC' from core.next_runs('30 2 * * *', 'europe/berlin', '2026-03-27 12:00Z', 3) r),
          array['2026-03-28 01:30', '2026-03-29 01:30', '2026-03-30 00:30']::timestamp[], 'over a change to summer time');
select is(array(select r at time zone 'UTC' from core.next_runs('@every 90s', p_from => '2026-03-27 12:00Z', p_count => 2) r),
          array['2026-03-27 12:01:30', '2026-03-27 12:03']::timestamp[], 'an interval, from p_from');
select is((select count(*)::int from core.next_runs('* * * * *')), 5, 'five by default');
select is((select min(r) from core.next_runs('* * * * *') r), date_trunc('minute', core.now()) + interval '1 minute', 'from now on, by the clock of the database');
select throws_ok(format('select * from core.next_runs(''* * * * *'', p_count => %s)', n), 'NX006', null, n || ' runs are refused') from unnest(array['0', '-1', '1001', 'null']) n;
select throws_ok(format('select * from core.next_runs(''* * * * *'', p_from => %L)', a), 'NX006', null, 'from ' || a) from unnest(array['infinity', '-infinity', '1969-12-31Z', '9999-01-01Z']) a;
select throws_ok($$ select * from core.next_runs('* * * *') $$, 'NX011', null, 'five fields');
select throws_ok($$ select * from core.next_runs('* * * * *', 'CET') $$, 'NX012', null, 'a zone');
select lives_ok($$ select * from core.next_runs('0 0 29 2 *', 'UTC', '8999-12-31Z', 1000) $$, 'far away');
