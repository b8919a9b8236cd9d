-- D7: unhandled_after is counted while a node of the consumer lives
-- holds: D7-given-up, others-unknown
select core.create_namespace('shop', '{"unhandled_after": "10 min"}');
create function pg_temp.run(p_shift interval) returns text language plpgsql as $$
begin
  update nexus_test.clock set shift = shift + p_shift;
  perform core_node.reap_nodes();
  return core_private.park_unhandled();
end $$;
create function pg_temp.beat() returns void language sql as $$ update core.nodes set last_heartbeat = core.now() where state = 'active' $$;
create temporary table n1 as select * from core_node.register_node('shop', 'n1', true, '{a}');
select core.emit('shop', 'x', '{"n": 1}', '{"headers": {"k": "v"}}');
select is(pg_temp.run('0'), '{"buried": 0, "parked": 1, "removed": 0, "unparked": 0}', 'parked');
select core_node.heartbeat('n1', (select incarnation from n1), 'active');
select pg_temp.run('60 s'), pg_temp.beat() from generate_series(1, 5);
select is((select lived between '299 s' and '301 s' from core_private.parking), true, 'five minutes of life');
-- an outage of three hours, during which nobody or somebody (pg_cron) runs the sweep
select pg_temp.run('1 h'), pg_temp.run('1 h'), pg_temp.run('1 h');
select is((select state from core.nodes), 'lost', 'the node is gone');
select core_node.register_node('shop', 'n1', true, '{a}');
update core.nodes set state = 'active';
select pg_temp.run('30 s'), pg_temp.beat();
select is((select lived between '329 s' and '331 s' from core_private.parking), true, 'an outage is no life');
-- frozen, and the reaper too: as if the whole machine had slept
update nexus_test.clock set shift = shift + interval '5 h';
select pg_temp.beat(), core_private.park_unhandled();
select is((select lived between '419 s' and '421 s' from core_private.parking), true, 'nor is more than three heartbeats of silence');
select is((select count(*)::int from core.dead_letters), 0, 'so nothing was given up');
select is((select given_up_in between '179 s' and '181 s' from core.unhandled_types), true, 'what is left of the time');
select pg_temp.run('60 s'), pg_temp.beat() from generate_series(1, 2);
select is((select count(*)::int from core.dead_letters), 0, 'nor before the time');
select is(pg_temp.run('61 s'), '{"buried": 1, "parked": 0, "removed": 0, "unparked": 0}', 'but then');
select is((select (consumer, event_type, reason, attempts, payload, headers, event_id, queue_name, msg_id)::text from core.dead_letters),
  '(default,x,"No handler for event x",0,"{""n"": 1}","{""k"": ""v""}",1,core_events_shop,1)', 'a dead letter with all it was');
select is((select count(*)::int from core.parked) + (select count(*)::int from pgmq.q_core_events_shop), 0, 'and nothing else');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 1, 'with its copy');
-- what somebody handles by now goes back instead, however old
select core.emit('shop', 'y', '1') from generate_series(1, 3);
select pg_temp.beat(), pg_temp.run('0');
update core.parked set lived = '-1 h';
insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key) select node_id, incarnation, 'event_type', 'default', 'y' from core.nodes;
select is(core_private.park_unhandled(p_limit => 2), '{"buried": 0, "parked": 0, "removed": 0, "unparked": 2}', 'handled again: none is given up, even beyond the batch');
select is(core_private.park_unhandled(p_limit => 2), '{"buried": 0, "parked": 0, "removed": 0, "unparked": 1}', 'and the rest follows');
-- a paused consumer
select core.emit('shop', 'z', '1');
update core.consumers set state = 'paused';
select is(core_private.park_unhandled(), '{"buried": 0, "parked": 0, "removed": 0, "unparked": 0}', 'a paused consumer is left alone');
update core.consumers set state = 'active', unhandled_after = '1 min';
select core_private.park_unhandled();
select pg_temp.beat();
select is(pg_temp.run('61 s'), '{"buried": 1, "parked": 0, "removed": 0, "unparked": 0}', 'the consumer overrides the namespace');
