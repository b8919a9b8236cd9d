-- boundaries are UTC whoever runs it; rows in the default partition are reported and repaired
-- holds: P2-peek, I4, others-months
set local timezone = 'America/New_York';
create function pg_temp.not_utc() returns text language sql as $$
  select string_agg(partition_name, ' ') from core.partitions where not is_default and (extract(day from from_time at time zone 'UTC') <> 1 or extract(hour from from_time at time zone 'UTC') <> 0) $$;
do $$ begin execute format('drop table core.%I', (select partition_name from core.partitions order by to_time desc nulls last limit 1)); end $$;
create temporary table months as select count(*) as n from core.partitions;
select lives_ok('select core.maintain_partitions()', 'maintenance');
select is((select count(*) from core.partitions), (select n + 1 from months), 'makes the month that is missing');
select is(pg_temp.not_utc(), null, 'months begin at midnight UTC');
select ok((select count(*) >= 6 from core.partitions where from_time > core.now()), 'six months ahead');
select core.create_namespace('shop');
update nexus_test.clock set shift = '2 years';
select core.emit('shop', 'a');
update nexus_test.clock set shift = '0';
select is((select tableoid::regclass::text from core.event_log), 'core.event_log_default', 'a row outside stands in the default partition');
select throws_ok('select core.maintain_partitions()', '55000', null, 'maintenance says so');
select is(core.repair_partitions(), 1::bigint, 'the repair moves it');
select isnt((select tableoid::regclass::text from core.event_log), 'core.event_log_default', 'to a month of its own');
select is(pg_temp.not_utc(), null, 'which begins at midnight UTC too');
select is(current_setting('search_path'), 'tap, pg_catalog', 'the session keeps its search_path, whatever pg_partman sets');
