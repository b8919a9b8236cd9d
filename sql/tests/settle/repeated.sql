-- D2: a result that is sent again, since nobody knows what became of it, is answered as before and changes nothing
-- holds: D2-repeated
select core.create_namespace('shop', '{"retry": {"base": "10 s", "jitter": 0, "max_attempts": 3}}');
select core.emit_batch('shop', array_fill('a'::text, array[6]), array_fill('{}'::jsonb, array[6]));
create temporary table c as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
create function pg_temp.send(p_policy jsonb = null) returns text language sql as $$
  select string_agg(s.outcome || s.msg_id || coalesce(' ' || to_char(s.due_at at time zone 'UTC', 'HH24:MI:SS.US'), ''), ', ' order by s.msg_id) from
    (select array_agg(c.msg_id order by c.msg_id) as ids, array_agg(c.read_ct order by c.msg_id) as cts, array_agg(c.last_read_at order by c.msg_id) as ats from c where c.msg_id > 1) f,
    core_node.settle('core_events_shop', 'n', '{1}', '{1}', (select array[last_read_at] from c where msg_id = 1), pg_temp.failed(f.ids, f.cts, f.ats, '{retry,release,reject,retry,retry}', '{null,5 s,null,1 h,null}', array[null,null,null,null,'{"max_attempts": 1}']::jsonb[], '{x,x,x,x,x}', '{boom,"",boom,boom,boom}')) s $$;
create function pg_temp.state() returns text language sql as $$
  select md5(string_agg(x, ' ' order by x)) from (
    select q::text from pgmq.q_core_events_shop q union all select q::text from pgmq.q_core_events_shop_dlq q union all select d::text from core.delayed d
    union all select p::text from core.parked p union all select l::text from core.dead_letters l union all select e::text from core.delivery_errors e) a(x) $$;
create temporary table first as select pg_temp.send() as told;
select matches((select told from first), '^retried2 [0-9:.]{15}, released3 [0-9:.]{15}, buried4, retried5 [0-9:.]{15}, buried6$', 'a mixed outcome');
create temporary table then_ as select pg_temp.state() as state;
select is((select array_agg(pg_temp.send() = 'gone1, ' || told) from first, generate_series(1, 20)), array_fill(true, array[20]), 'sent again and again it is answered as before; of an ack it is said that it is gone');
select is(pg_temp.state(), (select state from then_), 'nothing has changed: no second deferral, dead letter or line of history');
select is((select array_agg(attempt || action order by msg_id) from core.delivery_errors), array['1retry', '1bury', '1retry', '1bury'], 'one line an attempt');
select is((select (last_read_at - (select c.last_read_at from c where c.msg_id = 3)) < interval '1 ms' from pgmq.q_core_events_shop where msg_id = 3), true, 'when it was read is known as before');
select is((select array_agg(e.msg_id order by e.msg_id) from core_node.extend('core_events_shop', '{2,3}', '{1,1}', (select array_agg(last_read_at order by msg_id) from c where msg_id in (2, 3)), '1 hour') e),
          array[2, 3]::bigint[], 'what is settled has no lease to extend');
select throws_ok($$select core.ack('shop', 'default', 3, 1, (select last_read_at from c where msg_id = 3))$$, 'NX301', null, 'nor to ack');
select is((select s.outcome from core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', (select array[last_read_at] from c where msg_id = 3), '{retry}', '{0 s}', '{null}', '{x}', '{x}')) s),
          'released', 'the first verdict holds, whatever the second');

-- moved meanwhile
select is(core_private.set_aside(p_beyond => '2 s'), 3, 'all three are set aside');
select is((select pg_temp.send() = 'gone1, ' || told from first), true, 'what was set aside is answered as well');
update nexus_test.clock set shift = '30 s';
select core_node.promote_delayed();
select core_node.register_node('shop', 'n1', true, '{zzz}');
select core_private.park_unhandled();
select is((select count(*)::int from core.parked), 2, 'two are parked');
create temporary table later as select pg_temp.state() as state;
select is((select pg_temp.send() = 'gone1, ' || told from first), true, 'and what is parked');
select is(pg_temp.state(), (select state from later), 'without a change');

-- taken meanwhile
select core_node.register_node('shop', 'n2', true, '{a}');
create temporary table d as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
select is((select string_agg(msg_id || '/' || read_ct, ' ' order by msg_id) from d), '2/2 3/2', 'claimed by another');
select matches(pg_temp.send(), '^gone1, lost2, lost3, buried4, retried5 .*, buried6$', 'whose they are now');
select core.replay_dead_letters('{"namespace": "shop"}');
select matches(pg_temp.send(), '^gone1, lost2, lost3, buried4, retried5 .*, buried6$', 'a replay is another message');

-- a healthy event is released as often as one likes, each answer lost
select core.emit('shop', 'b');
create function pg_temp.release_twice() returns text language sql as $$
  with t as materialized (select * from core_node.claim('core_events_shop', '{b}', '{2}', 10, '30 s') where outcome = 'claimed')
  select string_agg(s.outcome, ' ') from t cross join generate_series(1, 3) cross join lateral core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[t.msg_id], array[t.read_ct], array[t.last_read_at], '{release}', '{0 s}', '{null}', '{x}', '{x}')) s $$;
select is((select array_agg(pg_temp.release_twice()) from generate_series(1, 12)), array_fill('released released released'::text, array[12]), 'it is never lost or buried');
select is((select format('%s %s', read_ct, headers ->> 'nexus-deferrals') from pgmq.q_core_events_shop where message ->> 'eventType' = 'b'), '12 12', 'each release counts once');
select is((select count(*)::int from core.dead_letters where event_type = 'b'), 0, 'nobody took it for one whose process was lost');

-- one rule for what headers say: deferrals that are no fewer than the reads before this one were sent by hand
select pgmq.send('core_events_shop'::text, '{"eventType": "h"}'::jsonb, '{"nexus-deferrals": 1}'::jsonb);
with t as materialized (select * from core_node.claim('core_events_shop', '{h}', '{0}', 10, '30 s') where outcome = 'claimed')
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array[t.msg_id], array[t.read_ct], array[t.last_read_at], '{retry}', '{0 s}', '{null}', '{x}', '{x}')) from t;
select is((select attempt from core.delivery_errors where event_type = 'h'), 1, 'the first attempt is the first, as handlers are told');
