-- what became of an event, for each consumer
-- holds: P2-status
update nexus_test.clock set frozen = '2030-01-01T00:00:00Z', shift = '0';
select core.create_namespace('shop');
create function pg_temp.consumer(p_name text, p_patterns text[]) returns void language plpgsql as $$
declare v_id integer;
begin
  insert into core.consumers (namespace, name, patterns, queue_name, created_at) values ('shop', p_name, p_patterns, 'core_events_shop__' || p_name, core.now()) returning consumer_id into v_id;
  insert into core.queues (queue_name, namespace, consumer_id) values ('core_events_shop__' || p_name, 'shop', v_id);
end $$;
select pg_temp.consumer('mail', '{a}'), pg_temp.consumer('other', '{b}');
set local role nexus_owner;
select core_private.create_queue('core_events_shop__' || n) from unnest(array['mail', 'other', 'late']) n;
reset role;
create function pg_temp.status(p_id bigint, p_thorough boolean = false) returns text language sql as $$
  select string_agg(concat_ws(' ', consumer, state), '; ' order by consumer) from core.event_status(p_id, p_thorough) $$;
create temporary table e as select (core.emit('shop', 'a', '{"x": 1}')).*;
select is(pg_temp.status(event_id), 'default visible; mail visible', 'each consumer that matches') from e;
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '30 s');
select is(pg_temp.status(event_id), 'default in_flight; mail visible', 'claimed') from e;
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{1}', '{1}', pg_temp.ats('{1}'), '{retry}', '{10 s}', array[null::jsonb], '{r}', '{boom}'));
select is((select row(state, msg_id, attempt, due_at - core.now())::text from core.event_status(event_id) where consumer = 'default'), '(waiting,1,1,00:00:10)', 'a retry waits for its time') from e;
update nexus_test.clock set shift = '11 s';
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '30 s');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{1}', '{2}', pg_temp.ats('{1}'), '{reject}', array[null::interval], array[null::jsonb], '{bad}', '{boom}'));
select is((select row(state, attempt, dead_letter_id, detail)::text from core.event_status(event_id) where consumer = 'default'), '(dead,2,1,"bad: boom")', 'given up') from e;
select core.replay_dead_letters('{"ids": [1]}');
select is(pg_temp.status(event_id), 'default visible; mail visible', 'replayed') from e;
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '30 s');
select core_node.settle('core_events_shop', 'n', array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at)) from pgmq.q_core_events_shop;
select core_node.claim('core_events_shop__mail', '{a}', '{0}', 1, '30 s');
select core_node.settle('core_events_shop__mail', 'n', '{}', '{}', '{}', pg_temp.failed('{1}', '{1}', pg_temp.ats('{1}', 'core_events_shop__mail'), '{reject}', array[null::interval], array[null::jsonb], '{bad}', '{boom}'));
select core.discard_dead_letters('{"ids": [2]}', 'no use');
select is(pg_temp.status(event_id), 'default settled; mail discarded', 'the end') from e;
-- delayed and parked
create temporary table d as select (core.emit('shop', 'a', '{}', '{"delay": "1 hour"}')).*;
select is(pg_temp.status(event_id), 'default delayed; mail delayed', 'not due yet') from d;
create temporary table far as select (core.emit('shop', 'a')).*;
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '30 s');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at), '{retry}', '{3 hours}', array[null::jsonb], '{r}', '{boom}')) from pgmq.q_core_events_shop;
select core_private.set_aside();
insert into core.delayed (due_at, queue_name, event_type, message) select core.now() + interval '2 hours', 'core_events_shop', 'a', '{}' from generate_series(1, 10000);
select is((select row(s.state, s.msg_id is not null, s.attempt)::text from core.event_status(event_id) s where s.consumer = 'default'), '(delayed,t,1)', 'set aside, behind however many') from far;
delete from core.delayed where message = '{}';
create temporary table p as select (core.emit('shop', 'b')).*;
with q as (delete from pgmq.q_core_events_shop returning *)
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'b', q.msg_id, 'shop', (q.message ->> 'eventId')::bigint, 0, core.now(), q.message, core.now(), '0' from q;
select is(pg_temp.status(event_id), 'default parked; other visible', 'nobody handles it') from p;
-- a consumer that came later never had it
select pg_temp.consumer('late', '{b}');
update core.consumers set created_at = created_at + interval '1 s' where name = 'late';
select is(pg_temp.status(event_id), 'default parked; other visible', 'who came later is left out') from p;
-- a queue that is too long
insert into pgmq.q_core_events_shop__other (vt, message) select core.now(), '{}' from generate_series(1, 10000);
create temporary table l as select (core.emit('shop', 'b')).*;
select is(pg_temp.status(event_id), 'default visible; late visible; other unknown', 'beyond the first 10,000') from l;
select is(pg_temp.status(event_id, true), 'default visible; late visible; other visible', 'unless it is looked for') from l;
select is(pg_temp.status(999999), null, 'there is no such event');
-- by uid
select is(core.find_event(event_uid), event_id, 'by uid, in the last day') from e;
update nexus_test.clock set shift = '2 days';
select is(core.find_event(event_uid), null, 'not older without a hint') from e;
select is(core.find_event(event_uid, '2030-01-01T00:30:00Z'), event_id, 'but near a time') from e;
-- only who may see it
update core.namespaces set restricted = true;
grant usage on schema tap to nexus_reader; grant execute on all functions in schema tap to nexus_reader;
grant all on all tables in schema pg_temp to nexus_reader; grant all on all sequences in schema pg_temp to nexus_reader;
set local role nexus_reader;
select is(pg_temp.status(event_id), null, 'hidden') from e;
select is(core.find_event(event_uid, '2030-01-01T00:30:00Z'), null, 'by uid, too') from e;
