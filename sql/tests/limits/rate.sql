-- C4: a rate lets through what it says, whatever asks, by the database clock
-- holds: C4
select core.create_namespace('shop');
update nexus_test.clock set frozen = clock_timestamp();
select core.alter_consumer('shop', 'default', null, '{"rate": "100/min"}');
select core.emit_batch('shop', array_fill('a'::text, array[500]), array_fill('1'::jsonb, array[500]));
create function pg_temp.claimed(p_limit integer = 10) returns text language sql as $$
    select concat_ws(' ', count(*) filter (where outcome = 'claimed'), max(message #>> '{}') filter (where outcome = 'limited'), max(scanned_to) filter (where outcome = 'limited'))
      from core_node.claim('core_events_shop', '{a}', '{0}', p_limit, '1 day', 1) $$;
create function pg_temp.tokens() returns integer language sql as $$
    select tokens from core.consumer_status where namespace = 'shop' and consumer = 'default' $$;
select is(pg_temp.tokens(), 2, 'a full bucket has one, and a second''s worth');
select is(pg_temp.claimed(), '2 rate 200000', 'which go at once; then it says when to look again');
select is(pg_temp.claimed(), '0 rate 200000', 'again');
update nexus_test.clock set shift = '199 ms';
select is(pg_temp.claimed(), '0 rate 1000', 'not before');
update nexus_test.clock set shift = '200 ms';
select is(pg_temp.claimed(), '1 rate 600000', 'then one');

-- a minute, looked at every 50 ms or so
create temporary table went (at interval, n integer);
do $$
declare v_n integer; begin
    for i in 4 .. 1204 loop
        update nexus_test.clock set shift = i * interval '50 ms';
        select count(*) into v_n from core_node.claim('core_events_shop', '{a}', '{0}', 10, '1 day', 1) where outcome = 'claimed';
        insert into went values (i * interval '50 ms', v_n);
    end loop;
end $$;
select cmp_ok((select sum(n) from went where at > '200 ms'), '>=', 99::bigint, 'a minute''s worth in a minute');
select cmp_ok((select sum(n) from went where at > '200 ms'), '<=', 101::bigint, 'and no more');
select cmp_ok((select max(s) from (select sum(n) over (order by at range between interval '60 s' preceding and current row) as s from went) w), '<=', 105::bigint, 'wherever it begins');

-- what was not used is lost, but for the bucket
update nexus_test.clock set shift = '1 h';
select is(pg_temp.claimed(), '2 rate 200000', 'an hour of rest makes no flood');
-- the clock is put back
update nexus_test.clock set shift = '-1 day';
update pgmq.q_core_events_shop set vt = '-infinity' where read_ct = 0;
select is(pg_temp.tokens(), 1, 'a clock that was put back finds one in the bucket');
select is(pg_temp.claimed(), '1 rate 600000', 'which may go');
update nexus_test.clock set shift = '-23:59:59.399';
select is(pg_temp.claimed(), '1 rate 599000', 'and then at the rate');

delete from pgmq.q_core_events_shop where read_ct > 0;
update nexus_test.clock set shift = '2 h';
select core.alter_consumer('shop', 'default', null, '{"rate": "1000/s"}');
select is(pg_temp.claimed(10), '10', 'another rate holds from the next claim on');
select core.alter_consumer('shop', 'default', null, '{"rate": "1/h"}');
update nexus_test.clock set shift = '4 h';
select is(pg_temp.claimed(), '1 rate 3599000000', 'one an hour');
update nexus_test.clock set shift = '4 h 59 min 58 s';
select is(pg_temp.claimed(), '0 rate 1000000', 'is one');
select core.alter_consumer('shop', 'default', null, '{"rate": "10/s", "max_in_flight": 1000}');
update nexus_test.clock set shift = '4 h 59 min 59 s';
select is(pg_temp.claimed(100), '1 rate 100000', 'a quicker one, too');
update nexus_test.clock set shift = '5 h';
select is(pg_temp.claimed(100), '10 rate 100000', 'and fills its bucket');
update nexus_test.clock set shift = '5 h 10 s';
select is(pg_temp.claimed(100), '11 rate 100000', 'together with the other limit the smaller one holds');
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 1}');
update nexus_test.clock set shift = '5 h 11 s';
select is(pg_temp.claimed(100), '0 max_in_flight', 'either one');
select core.alter_consumer('shop', 'default', null, '{"rate": null, "max_in_flight": null}');
select is(pg_temp.tokens(), null, 'no rate, no tokens');
