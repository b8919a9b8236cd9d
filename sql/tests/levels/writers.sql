-- Each writer puts an event into the level of its priority, or into the last one, and it stays there: delayed, scheduled, parked, retried, given up and
-- replayed. A consumer without levels takes it as any other.
-- holds: levels
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2030-01-01 00:00:10Z';
select core.create_consumer('shop', c, '{*}', o::jsonb) from (values ('one', '{}'), ('two', '{"levels": 2}'), ('four', '{"levels": 4}')) v (c, o);
-- What lies on each queue or is delayed for it: priority @ level. Takes it away.
create function pg_temp.got() returns text language plpgsql as $$
declare r record; v_all text := ''; v_one text;
begin
  for r in select c.name, c.queue_name from core.consumers c where c.namespace = 'shop' order by c.consumer_id loop
    execute format($q$
      with q as (delete from pgmq.%I returning *), d as (delete from core.delayed where queue_name = %L returning *)
      select string_agg(x.p || x.at, ' ' order by x.p, x.at)
        from (select q.msg_id, coalesce(q.message ->> 'priority', '-') as p, '@' || q.msg_id / 1000000000000000 + 1 as at from q
               union all
              select d.msg_id, coalesce(d.message ->> 'priority', '-'), ' later' || coalesce('@' || d.msg_id / 1000000000000000 + 1, '') from d) x
      $q$, 'q_' || r.queue_name, r.queue_name) into v_one;
    v_all := v_all || r.name || ': ' || coalesce(v_one, 'nothing') || '; ';
  end loop;
  return v_all;
end $$;
create function pg_temp.by_level() returns text language sql as $$
  select 'default: -@1 2@1 3@1 4@1; one: -@1 2@1 3@1 4@1; two: -@1 2@2 3@2 4@2; four: -@1 2@2 3@3 4@4; ' $$;
create function pg_temp.later() returns text language sql as $$
  select string_agg(c || ': - later 2 later 3 later 4 later; ', '' order by n) from unnest('{default,one,two,four}'::text[]) with ordinality u(c, n) $$;

select core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', p)) from unnest('{4,3,2,1}'::int[]) p;
select is(pg_temp.got(), pg_temp.by_level(), 'emit');
select is((select array_agg(priority order by event_id) from core.event_log), '{4,3,2,null}'::smallint[], 'the log knows it, but for the first');
select is((select array_agg((metadata ->> 'messageId')::bigint > 999999999999999 order by event_id) from core.event_log), '{f,f,f,f}'::boolean[], 'and the message ids of default');
select core.emit_batch('shop', array_fill('a.b'::text, '{5}'), array_fill('{}'::jsonb, '{5}'), array['{"priority": 4}', null, '{"priority": 3}', '{}', '{"priority": 2}']::jsonb[]);
select is(replace(pg_temp.got(), '-@1 -@1', '-@1'), pg_temp.by_level(), 'emit_batch');
select core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', p, 'delay', '1 h')) from unnest('{4,3,2,1}'::int[]) p;
select is(pg_temp.got(), pg_temp.later(), 'delayed');
select core.emit_batch('shop', array_fill('a.b'::text, '{4}'), array_fill('{}'::jsonb, '{4}'), array(select jsonb_build_object('priority', p, 'delay', '1 h') from unnest('{4,3,2,1}'::int[]) p));
update nexus_test.clock set frozen = '2030-01-01 01:00:10Z';
select is(core_node.promote_delayed(), 16, 'they have become due');
select is(pg_temp.got(), pg_temp.by_level(), 'promoted');
select core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', p, 'delay', '1 h')) from unnest('{4,3,2,1}'::int[]) p;
select is((select array_agg(distinct r.outcome) from core.run_deliveries_now('shop', array(select event_id from core.event_log where deliver_at > core_private.now())) r), '{due_now}', 'run now');
select is(pg_temp.got(), pg_temp.by_level(), 'what was delayed has its level');
select core.schedule_event('shop', 'a.b', '{}', core_private.now(), jsonb_build_object('priority', p)) from unnest('{4,3,2,1}'::int[]) p;
select is(core.fire_due_events(), 4, 'scheduled');
select is(pg_temp.got(), pg_temp.by_level(), 'scheduled ones have theirs');

-- The default consumer, with a dedupe key that ends with its event.
select core.alter_consumer('shop', 'default', p_options => '{"levels": 3}');
select is((core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', 4, 'dedupe_key', 'k', 'dedupe_while', 'queued'))).message_id / 1000000000000000, 2::bigint, 'a key, by emit');
select is((core.emit('shop', 'a.b', '{}', jsonb_build_object('priority', 1, 'dedupe_key', 'k', 'dedupe_while', 'queued'))).duplicate, true, 'it holds');
select is((select array_agg(r.message_id / 1000000000000000 order by r.event_id) from core.emit_batch('shop', array_fill('a.b'::text, '{2}'), array_fill('{}'::jsonb, '{2}'),
  array['{"priority": 2, "dedupe_key": "l", "dedupe_while": "pending"}', '{"priority": 2, "dedupe_key": "m"}']::jsonb[]) r), '{1,1}', 'keys, by emit_batch');
select is((core.emit('shop', 'a.b', '{}', '{"priority": 3}')).message_id / 1000000000000000, 2::bigint, 'the receipt has the message id');
select is((select count(*)::int from core.event_log e where (e.metadata ->> 'messageId')::bigint in (select msg_id from pgmq.q_core_events_shop where msg_id >= 1000000000000000)), 4, 'and so has the log');
select core.emit('shop', 'a.b', '{}', '{"priority": 2, "delay": "1 h", "dedupe_key": "n", "dedupe_while": "pending"}');
select is((select array_agg(d.msg_id / 1000000000000000) from core.delayed d where d.queue_name = 'core_events_shop'), '{1}', 'a delayed one that holds its key');
select pg_temp.got();

-- A backfill and a replay go by the priority of the log.
delete from core.event_log;
select core.emit('shop', 'b.c', '{}', jsonb_build_object('priority', p)) from unnest('{4,3,2,1}'::int[]) p;
select pg_temp.got();
select core.create_consumer('shop', 'late', '{b.*}', '{"levels": 3, "from": "beginning"}');
update core_private.backfills set state = 'running', awaited = '{}', bound = (select max(event_id) from core.event_log);
select is(core_private.run_backfill((select max(backfill_id) from core_private.backfills), 100), 'done', 'backfilled');
select matches(pg_temp.got(), 'late: -@1 2@2 3@3 4@3; ', 'by level');
select is((select delivered from core.replay_events('shop', 'four', '{"type": "b.*"}')), 4::bigint, 'replayed');
select matches(pg_temp.got(), 'four: -@1 2@2 3@3 4@4; ', 'by level');

-- A dead letter that is replayed goes where it was; all are in the one queue of dead letters.
select core.emit('shop', 'b.c', '{}', jsonb_build_object('priority', p)) from unnest('{4,3,2,1}'::int[]) p;
select core_private.bury('core_events_shop__four', null, array_agg(msg_id), array_agg(0), array_agg('rejected'::text), array_agg(null::text)) from pgmq.q_core_events_shop__four;
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 4, 'given up');
select pg_temp.got();
select is((select done from core.replay_dead_letters('{"namespace": "shop"}')), 4, 'replayed');
select matches(pg_temp.got(), 'four: -@1 2@2 3@3 4@4; ', 'by level');

-- Other levels hold from then on.
select core.emit('shop', 'b.c', '{}', '{"priority": 4}');
select core.alter_consumer('shop', 'four', p_options => '{"levels": null}');
select core.emit('shop', 'b.c', '{}', '{"priority": 4}');
select core.alter_consumer('shop', 'four', p_options => '{"levels": 2}');
select core.emit('shop', 'b.c', '{}', '{"priority": 4}');
select matches(pg_temp.got(), 'four: 4@1 4@2 4@4; ', 'what is queued stays');

select throws_ok(format($$select core.emit('shop', 'a.b', '{}', '{"priority": %s}')$$, p), 'NX005', format('priority cannot be %s', p), 'refused: ' || p)
  from unnest(array['0', '5', '-1', '1.5', '"2"', 'true', 'null', '2.0']) p;
select throws_ok($$select core.emit_batch('shop', '{a.b,a.b}', '{1,2}', array['{}', '{"priority": 9}']::jsonb[])$$, 'NX005', 'priority[2] cannot be 9', 'of a batch by its place');
select throws_ok($$select core.schedule_event('shop', 'a.b', '{}', now(), '{"priority": 9}')$$, 'NX005', 'priority cannot be 9', 'scheduled');
select throws_ok(format($$select core.create_consumer('shop', 'x', '{a.b}', '{"levels": %s}')$$, p), 'NX005', null, 'levels refused: ' || p) from unnest(array['0', '5', '1.5', '"2"', 'null']) p;
select throws_ok($$select core.alter_consumer('shop', 'two', p_options => '{"levels": 5}')$$, 'NX005', null, 'by alter too');
select throws_ok($$select core.create_consumer('shop', 'two', '{*}', '{"levels": 3}')$$, 'NX212', 'consumer ''two'' of namespace ''shop'' exists with other patterns or options: levels is 2, given 3', 'another number is a conflict');
select is((select array_agg(levels order by consumer) from core.consumer_status where consumer in ('one', 'two')), '{1,2}'::smallint[], 'it is shown');

-- A table that is made again begins above the ids of all levels, in the first one.
select core.emit('shop', 'a.b', '{}', '{"priority": 2}');
select core_private.bury('core_events_shop__two', null, array_agg(msg_id), array_agg(0), array_agg('rejected'::text), array_agg(null::text)) from pgmq.q_core_events_shop__two;
select cmp_ok(core_private.above_known_ids('core_events_shop__two'), '<', 1000000000000000::bigint, 'ids of levels count without their level');
