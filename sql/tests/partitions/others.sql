-- bounds of other people's tables are no times, and are not taken for any; names need not say what a partition is
-- holds: P2, others-months
create table public.readings (id bigint) partition by range (id);
create table public.readings_0 partition of public.readings for values from (0) to (1000);
create table public.words (w text) partition by range (w);
create table public.words_0 partition of public.words for values from ('a') to ('b');
analyze pg_catalog.pg_class;
analyze pg_catalog.pg_inherits;
select is(core.run_sweep('partitions') ->> 'error', null, 'maintenance beside tables by bigint and text');
select lives_ok($$ select * from core.partitions where from_time > core.now() $$, 'the view beside them');
select is(core.repair_partitions(), 0::bigint, 'the repair beside them');

-- a table that has the name of a month and is none
do $$ declare p text := (select partition_name from core.partitions where from_time = (date_trunc('month', core.now() at time zone 'UTC') + interval '7 months') at time zone 'UTC'); begin
  execute format('drop table core.%I', p);
  execute format('create table core.%I (x int)', p);
end $$;
create temporary table months as select count(*) as n from core.partitions;
select core.run_sweep('partitions');
select is((select count(*) from core.partitions), (select n + 1 from months), 'a month whose name is taken gets another one');

-- an empty partition with other bounds than a month's, made ahead by somebody
do $$ declare l record; begin
  select * into l from core.partitions where not is_default order by to_time desc limit 1;
  execute format('drop table core.%I', l.partition_name);
  execute format('create table core.ahead partition of core.event_log for values from (%L) to (%L)', l.from_time + interval '5 hours', l.to_time + interval '5 hours');
end $$;
select is(core.run_sweep('partitions') #>> '{result,fault}', null, 'makes room for months');
select is(to_regclass('core.ahead'), null, 'and goes');

-- one with rows
create temporary table last as select partition_name, from_time, to_time from core.partitions where not is_default order by to_time desc limit 1;
do $$ declare l record; begin
  select * into l from last;
  execute format('drop table core.%I', l.partition_name);
  execute format('create table core.somebody partition of core.event_log for values from (%L) to (%L)', l.from_time + interval '5 hours', l.to_time + interval '5 hours');
  execute format('drop table core.%I', (select partition_name from core.partitions where is_month order by to_time desc limit 1));
end $$;
insert into core.event_log (event_id, namespace, event_type, payload, emitted_at) select -1, 'x', 'x', '{}', from_time + interval '5 hours' from last;
insert into core.event_log (event_id, namespace, event_type, payload, emitted_at) select -2, 'x', 'x', '{}', to_time - interval '1 second' from last;
select matches(core.run_sweep('partitions') #>> '{result,fault}', 'not a month: somebody from ', 'what could be made is made, and the fault is said');
select is((select count(*) from core.partitions where is_month and to_time = (select from_time from last)), 1::bigint, 'the month before it is made');
select throws_ok('select core.maintain_partitions()', '55000', null, 'with nothing else to do it is an error');
select is(core.repair_partitions(), 2::bigint, 'the repair moves its rows');
select is((select count(*) from core.event_log), 2::bigint, 'and loses none');
select is((select count(*) from core.partitions where not is_default and not is_month), 0::bigint, 'to months');
select is(core.run_sweep('partitions') ->> 'error', null, 'and maintenance is content');
select is((select owner::text from core.partitions group by owner), 'nexus_owner', 'all are the owner''s');
