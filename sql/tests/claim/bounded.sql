-- D1: a claim looks at a bounded part of the queue
-- holds: D1
select core.create_namespace('shop');
select setval(pg_get_serial_sequence('pgmq.q_core_events_shop', 'msg_id'), 1000000);
select core.emit('shop', 'a');
create function pg_temp.claim(p_floor bigint, p_window int default null, p_sweep boolean default false, p_limit int default 5) returns text language sql as $$
  select coalesce(string_agg(c.msg_id::text, ',' order by c.msg_id) filter (where c.outcome = 'claimed'), '-') || ' '
      || max(c.read_ct) filter (where c.outcome = 'window') || ' ' || coalesce(max(c.scanned_to)::text, '-')
    from core_node.claim('core_events_shop', '{a}', '{0}', p_limit, '1 h', p_floor, p_window, p_sweep) c $$;
select is(pg_temp.claim(0), '1000001 1 1000001', 'it begins anywhere');
select is(pg_temp.claim(0), '- 0 -', 'nothing is left');
-- 20,000 rows that are hidden end a narrow window
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value
select 1000001 + g, core.now() + interval '1 day', '{"eventType": "a"}' from generate_series(1, 45000) g;
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value select 1046001 + g, core.now(), '{"eventType": "a"}' from generate_series(1, 2) g;
select is(pg_temp.claim(0), '- 5 1020000', 'where hidden rows lie it says how far it has looked, and that there is more');
select is(pg_temp.claim(1040001), '1046002,1046003 2 1046003', 'and from there it finds what is due');
-- a wide window counts hidden rows too, and is over at its end
select is(pg_temp.claim(1000001, 100), '- 100 1000100', 'wide windows count every row');
-- foreign types are not locked by a wide window
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value
select 2000000 + g, core.now(), jsonb_build_object('eventType', case when g % 10 = 0 then 'a' else 'b' end) from generate_series(1, 100) g;
select is(pg_temp.claim(2000001, 100), '2000010,2000020,2000030,2000040,2000050 100 2000050', 'it stops where it has enough, so that nothing is left behind');
select is((select count(*)::int from pgmq.q_core_events_shop where msg_id > 2000000 and xmax <> '0' and message ->> 'eventType' = 'b'), 0, 'and writes to no row of others');
select is(pg_temp.claim(0, 100, true), '2000060,2000070,2000080,2000090,2000100 95 2000100', 'nor does a wide sweep');
select is((select count(*)::int from pgmq.q_core_events_shop where msg_id > 2000000 and xmax <> '0' and message ->> 'eventType' = 'b'), 0, 'which locks none of them either');
