-- E2 within one session; races are in Go
-- holds: E2
select core.create_namespace('shop', '{"dedupe_for": "1 day"}');
create temporary table a as select * from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}');
create temporary table b as select * from core.emit('shop', 'y', '2', '{"dedupe_key": "k"}');
select is((select (event_id, event_uid, duplicate) from b)::text, (select (event_id, event_uid, true) from a)::text, 'the second gets the ids of the first');
select is((select count(*)::int from core.event_log), 1, 'one event');
update nexus_test.clock set shift = '25 h';
select ok(not (select duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}')), 'an expired key is free, swept or not');
update nexus_test.clock set shift = '50 h';
select is(core_private.expire_keys(), 1, 'expired keys are swept');
-- whatever becomes of the event, its key is kept for dedupe_for
update nexus_test.clock set shift = '100 h';
create function pg_temp.again(p_key text) returns boolean language sql as $$ select duplicate from core.emit('shop', 'kept', '1', jsonb_build_object('dedupe_key', p_key)) $$;
do $$
declare k text; c record;
begin
  foreach k in array '{handled,rejected,discarded}'::text[] loop
    perform core.emit('shop', 'kept', '1', jsonb_build_object('dedupe_key', k));
    select * into strict c from core_node.claim('core_events_shop', '{kept}', '{0}', 10, '1 min') x where x.outcome = 'claimed';
    if k = 'handled' then
      perform core_node.settle('core_events_shop', null, array[c.msg_id], array[c.read_ct], array[c.last_read_at]);
    else
      perform core_node.settle('core_events_shop', null, '{}', '{}', '{}', pg_temp.failed(array[c.msg_id], array[c.read_ct], array[c.last_read_at], '{reject}', '{null}', '{null}', '{r}', '{e}'));
    end if;
  end loop;
  perform core.discard_dead_letter(max(dead_letter_id), 'not wanted') from core.dead_letters;
end $$;
select is((select (count(*) filter (where status <> 'resolved'), count(*) filter (where resolution = 'discarded'))::text from core.dead_letters), '(1,1)', 'one was handled, one rejected, one discarded');
select ok(pg_temp.again(k), k || ': the key is kept') from unnest('{handled,rejected,discarded}'::text[]) k;
update nexus_test.clock set shift = '125 h';
select ok(not pg_temp.again(k), k || ': and free after dedupe_for') from unnest('{handled,rejected,discarded}'::text[]) k;
-- of equal keys of one object the last wins
create temporary table d as select * from core.emit('shop', 'x', '{"a": 1, "b": 2, "a": 3}');
select is((select l.payload from core.event_log l join d using (event_id)), '{"a": 3, "b": 2}', 'the last of equal keys');
-- keys of an outbox queue are its own: no event's key stands for one, and none for an event's
select core.create_namespace('bank'), core.outbox_register_queue('bank', 'pay', 1);
create function pg_temp.event(p_key text) returns boolean language sql as $$ select duplicate from core.emit('bank', 'x', '1', jsonb_build_object('dedupe_key', p_key)) $$;
create function pg_temp.sent(p_key text) returns boolean language sql as $$ select duplicate from core.outbox_enqueue('bank', 'pay', 'x', 't', null, p_key) $$;
select ok(not pg_temp.event(k) and not pg_temp.sent('one'), 'an event with the key ' || k || ' keeps nobody from enqueuing') from unnest(array['outbox bank pay one']) k;
select ok(not pg_temp.event('one'), 'nor does a message keep an event');
select ok(not pg_temp.sent('two') and not pg_temp.event('outbox bank pay two'), 'whatever it is called');
select ok(pg_temp.sent('one') and pg_temp.sent('two') and pg_temp.event('one') and pg_temp.event('outbox bank pay one'), 'each is remembered');
select core.outbox_drop_queue('bank', 'pay', true);
select is((select count(*)::int from core.event_keys where namespace = 'outbox bank pay'), 0, 'a queue that is dropped takes its keys along');
select core.outbox_register_queue('bank', 'pay', 1);
select ok(not pg_temp.sent('one') and pg_temp.event('one'), 'the next of its name has none of them');
select core.outbox_drop_queue('bank', 'pay', true);
insert into core.event_keys (namespace, key, event_id, event_uid, expires_at) select 'outbox bank ' || q, 'late', 1, gen_random_uuid(), core.now() + interval '1 day' from unnest('{pay,play}'::text[]) q;
select core.outbox_register_queue('bank', 'pay', 1);
select is((select string_agg(namespace, ',') from core.event_keys where key = 'late'), 'outbox bank play', 'what was enqueued while it was dropped stands for nothing in the next of its name');
delete from core.event_keys where key = 'late';
select core.drop_namespace('bank', 'bank', true);
select is((select count(*)::int from core.event_keys where namespace like '%bank%'), 0, 'and so does a namespace');
