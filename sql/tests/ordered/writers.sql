-- holds: ordered (all writers)
-- Whatever writes deliveries, an ordered consumer gets the events that match in its lanes: those of a key in one of them, in the order of their
-- ids, each as it would be on a queue.
create function pg_temp.got(p_consumer text) returns text language sql as $$
  select string_agg(format('%s%s', m.body_type, coalesce('/' || m.key, '') || coalesce(m.headers ->> 'h', '')
                    || case when convert_from(m.body, 'UTF8')::jsonb ->> 'eventType' = m.body_type and e.event_type = m.body_type then '' else ' unlogged' end), ' ' order by m.id)
    from core.consumers c join core_private.consumer_lanes l using (consumer_id) join core_private.lane_messages m using (lane_id)
    left join core.event_log e on e.event_id = (convert_from(m.body, 'UTF8')::jsonb ->> 'eventId')::bigint
   where c.name = p_consumer $$;
create function pg_temp.forget() returns void language sql as $$ delete from core_private.lane_messages $$;
update nexus_test.clock set frozen = '2030-01-01 00:00:10Z';
select core.create_namespace('shop'), core.create_namespace('bare', '{"default_consumer": "off"}');
select core.emit('shop', 'a.old', '1', '{"ordering_key": "k"}'), core.emit('shop', 'b.old'), core.emit('shop', 'a.old', '2', '{"ordering_key": "k"}');
select ok(core.create_consumer('shop', 'one', '{a.*}', '{"kind": "ordered", "lanes": 3}'), 'created');
select ok(not core.create_consumer('shop', 'one', '{a.*}', '{"kind": "ordered", "lanes": 3}'), 'there');
select throws_ok($$select core.create_consumer('shop', 'one', '{a.*}', '{"kind": "ordered", "lanes": 4}')$$, 'NX212', null, 'other lanes');
select throws_ok($$select core.create_consumer('shop', 'one', '{a.*}', '{"kind": "unordered"}')$$, 'NX212', null, 'another kind');
select throws_ok($$select core.create_consumer('shop', 'two', '{a.*}', '{"kind": "odd"}')$$, 'NX005', null, 'no kind');
select throws_ok($$select core.create_consumer('shop', 'two', '{a.*}', '{"lanes": 2}')$$, 'NX005', null, 'lanes of an unordered one');
select throws_ok($$select core.create_consumer('shop', 'two', '{a.*}', '{"kind": "ordered", "lanes": 0}')$$, 'NX005', null, 'no lanes');
select throws_ok(format($$select core.create_consumer('shop', 'two', '{a.*}', '{"kind": "ordered", %s}')$$, o), 'NX225', null, o)
  from unnest(array['"rate": "1/s"', '"max_in_flight": 1', '"levels": 2', '"unhandled_after": "1 h"']) o;
select throws_ok(format($$select core.alter_consumer('shop', 'one', null, '{%s}')$$, o), 'NX225', null, 'altered: ' || o)
  from unnest(array['"rate": "1/s"', '"max_in_flight": 1', '"levels": 2', '"unhandled_after": "1 h"', '"backfill": "beginning"', '"drop_unmatched": true']) o;
select throws_ok($$select core.emit('shop', 'a.b', '1', '{"delay": "1 h"}')$$, 'NX225', null, 'a delay');
select throws_ok($$select core.emit_batch('shop', '{b.b,a.b}', '{1,2}', array[null, '{"delay": "1 h"}']::jsonb[])$$, 'NX225', null, 'a delay in a batch');
select lives_ok($$select core.emit_batch('shop', '{b.b,b.c}', '{1,2}', array[null, '{"delay": "1 h"}']::jsonb[])$$, 'of what it does not get');
select throws_ok($$select core.outbox_enqueue('shop', 'one', 'x', 't')$$, 'NX115', null, 'it is no outbox queue');
select throws_ok($$select core.outbox_replay('shop', 'one', '-infinity')$$, 'NX115', null, 'nor replayed as one');
select throws_ok($$select core.cancel_deliveries('shop', '{1}', 'r', 'one')$$, 'NX225', null, 'deliveries cannot be picked');

select core.outbox_register_queue('shop', 'moves', 1);
select throws_ok($$select core.create_consumer('shop', 'moves', '{a.*}')$$, 'NX212', 'consumer ''moves'' of namespace ''shop'' cannot be made: there is an outbox queue of that name', 'the name of a queue');

select is(pg_temp.got('one'), null, 'from now on');
select core.create_consumer('bare', 'bare', '{*}', '{"kind": "ordered"}');
select core.emit(ns, 'a.b') from unnest('{shop,bare}'::text[]) ns;
select core.emit('shop', t, '1', '{"ordering_key": "k", "headers": {"h": "!"}}') from unnest('{a.b,b.b,a.c}'::text[]) t;
select core.emit_batch(ns, '{a.d,b.b,a.e}', '{1,2,3}') from unnest('{shop,bare}'::text[]) ns;
select core.emit_batch('shop', '{a.f,b.b,a.g}', '{1,2,3}', array_fill('{"ordering_key": "k", "headers": {"h": "!"}}'::jsonb, '{3}'));
select core.emit_batch('shop', '{a.h,a.h}', '{1,2}', array_fill('{"dedupe_key": "d"}'::jsonb, '{2}'));
select core.schedule_event('shop', 'a.i', '1', '2030-01-01 00:00:10Z', '{"ordering_key": "k"}');
select core.fire_due_events();
select is(pg_temp.got('one'), 'a.b a.b/k! a.c/k! a.d a.e a.f/k! a.g/k! a.h a.i/k', 'all of it');
select is(pg_temp.got('bare'), 'a.b a.d b.b a.e', 'where there is no default');
select is((select count(distinct m.lane_id)::int from core_private.lane_messages m where m.key = 'k'), 1, 'a key has one lane');
select is((select count(*)::int from core_private.lane_messages m join core_private.consumer_lanes l using (lane_id) where m.key = 'k' and l.lane <> (core_private.lanes_of_keys('{k}', 3))[1]), 0, 'which is that of the key');
select is((select count(*)::int from core_private.lane_messages m where m.xid <> pg_current_xact_id()), 0, 'with the transaction that emitted it');

-- Which event without a key is the first of its lane goes by its number.
create function pg_temp.unhandled() returns table (others bigint, of_ab bigint) language sql as
$$select count(*) filter (where why is distinct from 'no live node handles a.b' and why !~ '^no live node handles a\.[d-h]$'), count(*) filter (where why = 'no live node handles a.b')
    from core.lane_status where queue = 'one' and lag > 0$$;
select ok((select others = 0 and of_ab > 0 from pg_temp.unhandled()), 'a lane whose event nobody handles says so');
select core_node.register_node('shop', 'n', true, '{a.b}', '{}', '{one}');
select ok((select others = 0 and of_ab = 0 from pg_temp.unhandled()), 'and goes on where one is for it');

-- The log comes first, and in lanes of its own.
select pg_temp.forget();
select core.create_consumer('shop', 'all', '{a.*}', '{"kind": "ordered", "lanes": 2, "from": "beginning"}');
select core.emit('shop', 'a.new', '3', '{"ordering_key": "k"}');
update core_private.backfills set awaited = '{}';
select core_private.run_backfill(backfill_id, 2) from core_private.backfills;
select is(pg_temp.got('all'), 'a.new/k a.old/k', 'a step of the log');
select is((select string_agg(distinct why, ',') from core.lane_status where queue = 'all' and generation = 2), 'waits for the log', 'the others wait');
select is(core_private.open_generation(consumer_id, 2), 1, 'only lanes of the log are open') from core.consumers where name = 'all';
select core_private.run_backfill(backfill_id, 1000) from core_private.backfills;
select is((select state from core_private.backfills), 'done', 'all of the log');
select is((select string_agg(format('%s %s', m.body_type, l.generation), ', ' order by l.generation, m.id) from core_private.lane_messages m join core_private.consumer_lanes l using (lane_id) join core.consumers c using (consumer_id) where c.name = 'all' and m.key = 'k'),
  'a.old 1, a.old 1, a.b 1, a.c 1, a.f 1, a.g 1, a.i 1, a.new 2', 'in the order of the log, what is new behind');
select is((select string_agg(distinct why, ',') from core.lane_status where queue = 'all' and generation = 2), 'waits for the lanes of before', 'they wait on');
select core_private.retire_lanes();
select is((select string_agg(distinct generation::text, ',') from core.lane_status where queue = 'all'), '1,2', 'and the lanes of before stay');
delete from core_private.lane_messages m using core_private.consumer_lanes l where l.lane_id = m.lane_id and l.generation = 1;
select is(core_private.open_generation(consumer_id, 2), 2, 'until they are empty') from core.consumers where name = 'all';
select core_private.retire_lanes();
select is((select string_agg(distinct generation::text, ',') from core.lane_status where queue = 'all'), '2', 'and go');

-- Cut anew: what comes goes to the new lanes, and these wait.
select pg_temp.forget();
select core.emit('shop', 'a.b', '1', '{"ordering_key": "k"}');
select ok(core.outbox_repartition('shop', 'all', 5), 'cut anew');
select ok(not core.outbox_repartition('shop', 'all', 5), 'once');
select throws_ok($$select core.outbox_repartition('shop', 'all', 0)$$, 'NX018', null, 'into none');
select throws_ok($$select core.outbox_repartition('shop', 'none', 2)$$, 'NX115', null, 'of nothing');
select core.emit('shop', 'a.c', '1', '{"ordering_key": "k"}'), core.emit_batch('shop', '{a.d,a.d}', '{1,1}', array_fill('{"ordering_key": "k"}'::jsonb, '{2}'));
select is((select string_agg(format('%s %s', m.body_type, l.generation), ', ' order by m.id) from core_private.lane_messages m join core_private.consumer_lanes l using (lane_id) join core.consumers c using (consumer_id) where c.name = 'all'),
  'a.b 2, a.c 3, a.d 3, a.d 3', 'what comes goes to the new ones');
select is((select string_agg(format('%s:%s', w.lane, l.generation), ',') from core.consumers c cross join core_private.lanes_with_work(c.consumer_id, c.generation) w join core_private.consumer_lanes l using (lane_id) where c.name = 'all'),
  format('%s:2', (core_private.lanes_of_keys('{k}', 2))[1]), 'and only the one of before has work');
set local track_functions = 'all';
select core_private.lanes_with_work(c.consumer_id, c.generation) from core.consumers c where c.name = 'all';
select ok((select f.calls between 1 and (select count(distinct l.generation) from core_private.consumer_lanes l join core.consumers c using (consumer_id) where c.name = 'all')
             from pg_stat_xact_user_functions f where f.funcname = 'lanes_wait'), 'a look asks once for each generation whether that waits');
reset track_functions;
select is(core_private.retire_lanes(), 0, 'which stays while transactions are alive, or it is not empty');

-- Replayed from the log: to the lanes of now.
select is((select delivered from core.replay_events('shop', 'one', '{"ordering_key": "k"}')), 12::bigint, 'replayed');
select is((select string_agg(m.body_type, ' ' order by m.id) from core_private.lane_messages m join core_private.consumer_lanes l using (lane_id) join core.consumers c using (consumer_id) where c.name = 'one' and convert_from(m.body, 'UTF8')::jsonb ? 'replay'),
  'a.old a.old a.b a.c a.f a.g a.i a.new a.b a.c a.d a.d', 'in the order of the log');

select core.emit('bare', 'a.b');
select throws_ok($$select core.drop_consumer('shop', 'one')$$, 'NX213', null, 'it has events');
select throws_ok($$select core.drop_namespace('bare', 'bare')$$, 'NX203', null, 'so has the namespace');
select lives_ok($$select core.drop_consumer('shop', 'one', true)$$, 'dropped by force');
select is((select count(*)::int from core.lane_status where queue = 'one'), 0, 'with its lanes');
select lives_ok($$select core.emit('shop', 'a.b')$$, 'emits go on');
