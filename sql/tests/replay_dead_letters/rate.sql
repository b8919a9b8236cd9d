-- a replay spread over time: 10 a second are due 100 ms apart
-- holds: L4-rate
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2030-01-01T00:00:00Z', shift = '0';
select core.emit_batch('shop', '{a,a,a,a}', '{1,2,3,4}');
select core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2,3,4}', '{1,1,1,1}', '{r,r,r,r}', '{e,e,e,e}');
select is((select (matched, done)::text from core.replay_dead_letters('{"namespace": "shop", "limit": 3}', '{"rate": 10}')), '(3,3)', 'three replayed');
select is((select count(*)::int from pgmq.q_core_events_shop), 1, 'the first at once');
select is((select array_agg(due_at - core.now() order by due_at) from core.delayed), '{100 ms,200 ms}'::interval[], 'the others one after another');
select is((select array_agg(message ->> 'payload' order by due_at) from core.delayed), '{2,3}', 'oldest first');
select is((select array_agg(replay_msg_id is null order by dead_letter_id) from core.dead_letters where resolution = 'replayed'), '{f,t,t}', 'the ledger knows the message, where there is one');
select is((select done from core.replay_dead_letters('{"namespace": "shop"}', '{"rate": 10, "delay": "300 ms"}')), 1, 'the next batch');
select is((select max(due_at) - core.now() from core.delayed), interval '300 ms', 'goes on where the first ended');
-- behind what others put off, but not behind a retry of one of them that was set aside
create function pg_temp.again(p_options text) returns interval language plpgsql as $$
declare v_due interval; begin
    insert into core.dead_letters (namespace, consumer, source_kind, source_ref, payload, attempts, failed_at, reason) values ('shop', 'default', 'delivery', to_jsonb(clock_timestamp()), '1', 1, core.now(), 'again');
    perform core.replay_dead_letters('{"reason": "again"}', p_options::jsonb);
    v_due := (select coalesce(max(due_at) - core.now(), '0') from core.delayed where message = '1');
    delete from core.delayed where message = '1'; delete from pgmq.q_core_events_shop where message = '1';
    return v_due;
exception when sqlstate 'NX005' then return null; end $$;
insert into core.delayed (due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at) values (core.now() + interval '20 days', 'core_events_shop', 'x', '"x"', '{"nexus-replay-of": 1}', 99999, 1, core.now());
select is(pg_temp.again('{"rate": 10}'), interval '400 ms', 'behind what others put off');
select is(pg_temp.again('{}'), interval '0', 'without a rate at once');
select is(pg_temp.again('{"rate": 10, "delay": "3 s"}'), interval '3 s', 'a delay that ends later counts');
insert into core.delayed (due_at, queue_name, event_type, message, headers) values (core.now() + interval '70 days', 'core_events_shop', 'x', '"x"', '{"nexus-replay-of": 1}');
select is(pg_temp.again('{"rate": 10}'), null, 'not behind months');
delete from core.delayed where message = '"x"';
update nexus_test.clock set shift = '250 ms';
select is(core_node.promote_delayed(), 2, 'two have become due');
select is((select string_agg(headers ->> 'nexus-round', '' order by msg_id) from pgmq.q_core_events_shop), '111', 'in their next round');
select throws_ok(format('select core.replay_dead_letters(''{"namespace": "shop"}'', %L)', o), 'NX005', null, o)
  from unnest(array['{"rate": 0}', '{"rate": "x"}', '{"rate": 1e9}', '{"delay": 3}', '{"delay": "-1 s"}', '{"delay": "31 days"}']) o;
-- a rate that would take months
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, payload, attempts, failed_at, reason)
select 'shop', 'default', 'delivery', to_jsonb(g), '1', 1, core.now(), 'many' from generate_series(1, 3000) g;
select throws_ok($$select core.replay_dead_letters('{"reason": "many", "limit": 3000}', '{"rate": 0.001}')$$, 'NX005', null, 'too slow');
