-- Broadcast: what a node is given, by snapshots that are written by hand here
-- holds: broadcast (order, fence, rights)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop');
create function pg_temp.put(p_xid text, p_type text, p_namespace text = 'shop') returns bigint language sql as $$
  insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
  select p_namespace, core_private.cluster_id(), p_xid::xid8, 7, '00000000-0000-0000-0000-000000000007', p_type, core.now(),
         jsonb_build_object('eventType', p_type, 'payload', 1, 'eventId', 7, 'eventUid', '00000000-0000-0000-0000-000000000007')
  returning broadcast_id $$;
create temp table me as select r.* from core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a.*", "b"]}') r;
create function pg_temp.claim(p_holder text = '1', p_max int = 3) returns table (outcome text, type text, attempt int, turn bigint, deferrals int) language sql as $$
  select c.outcome, c.message ->> 'eventType', c.attempt, c.turn, c.deferrals
    from me, core_node.claim_broadcast('n1', me.incarnation, rpad(p_holder, 32, '0')::uuid, '{a.*,b}', array[p_max, p_max]) c $$;
create function pg_temp.ack(p_turn bigint, p_holder text = '1') returns text language plpgsql as $$
  begin perform core_node.ack_broadcast('n1', rpad(p_holder, 32, '0')::uuid, p_turn); return 'ok'; exception when sqlstate 'NX301' then return 'lost'; end $$;
create function pg_temp.settle(p_turn bigint, p_result jsonb) returns text language sql as $$
  select s.outcome || coalesce(' ' || (s.due_at - core.now())::text, '') from core_node.settle_broadcast('n1', rpad('1', 32, '0')::uuid, p_turn, p_result) s $$;
create function pg_temp.turn() returns bigint language sql as $$ select c.turn from core_private.broadcast_cursors c where c.node_id = 'n1' $$;
create function pg_temp.take() returns text[] language plpgsql as $$
  declare v text[]; r record;
  begin
    loop
      select * into r from pg_temp.claim() c;
      exit when not found;
      v := v || r.type; perform pg_temp.ack(r.turn);
    end loop;
    return v;
  end $$;

-- it begins at its registration, with what was being emitted then
select is((select (patterns, seen::text = pg_current_snapshot()::text, target)::text from core_private.broadcast_cursors), '("{a.*,b}",t,)', 'a new node begins with what is visible now');
select is((select count(*)::int from pg_temp.claim()), 0, 'nothing is there');
update core_private.broadcast_cursors set seen = '100:110:103,105', top = 1000000000;
select pg_temp.put('99', 'a.before'), pg_temp.put('101', 'a.seen'), pg_temp.put('120', 'a.second'), pg_temp.put('112', 'a.first'), pg_temp.put('105', 'a.late'), pg_temp.put('103', 'c'), pg_temp.put('121', 'b'), pg_temp.put('121', 'a.same'), pg_temp.put('122', 'c');
select pg_temp.put('115', 'a.elsewhere', 'mall');
select is((select unread::int from core.broadcast_cursors), 5, 'what is not read yet, of its types');
select is(pg_temp.take(), '{a.late,a.first,a.second,b,a.same}', 'what was not visible before, once, in the order of transactions');
select is((select (unread, lag)::text from core.broadcast_cursors), '(0,00:00:00)', 'nothing is left');
select is((select (target, at_id)::text from core_private.broadcast_cursors), '(,0)', 'all that was seen is seen');
create temp table quiet as select ctid as at, xmin::text as by from core_private.broadcast_cursors;
select count(*) from pg_temp.claim();
select is((select (ctid, xmin::text)::text from core_private.broadcast_cursors), (select (at, by)::text from quiet), 'a look that finds nothing writes nothing');

-- what is not visible in the target waits for the next one
update core_private.broadcast_cursors set seen = '200:200:', top = 1000000000, target = '205:210:205', at_xid = '0', at_id = 0;
select pg_temp.put('205', 'a.running'), pg_temp.put('207', 'a.done'), pg_temp.put('210', 'a.next');
select is((select type from pg_temp.claim()), 'a.done', 'of what is being read');
select is((select unread::int from core.broadcast_cursors), 3, 'what is in hand counts');
select is(pg_temp.ack(pg_temp.turn()), 'ok', 'done');
select is((select unread::int from core.broadcast_cursors), 2, 'one less');
select is(pg_temp.take(), '{a.running,a.next}', 'the others come with the next look');

-- the fence
select pg_temp.put('220', 'a.fence');
update core_private.broadcast_cursors set seen = '215:215:', top = 1000000000, target = null, at_xid = '0', at_id = 0;
create temp table one as select * from pg_temp.claim();
create temp table two as select * from pg_temp.claim();
select is((select (one.type, two.type, two.attempt, two.turn - one.turn)::text from one, two), '(a.fence,a.fence,1,1)', 'a process that did not hear the answer gets it again');
select is(pg_temp.ack((select turn from one)), 'lost', 'for the first answer nothing is acknowledged');
select is(pg_temp.ack((select turn from two), '2'), 'lost', 'nor for another process');
select is((select core_node.holds_broadcast('n1', rpad('1', 32, '0')::uuid, turn) from one), false, 'it is not held by that');
select is((select core_node.holds_broadcast('n1', rpad('1', 32, '0')::uuid, turn) from two), true, 'but by this');
select is(pg_temp.ack((select turn from two)), 'ok', 'the second one');
select is(pg_temp.ack((select turn from two)), 'lost', 'once');
select is(pg_temp.settle((select turn from two), '{"action": "retry"}'), 'lost', 'and has no other end');
select throws_ok($$select core_node.claim_broadcast('n1', gen_random_uuid(), gen_random_uuid(), '{a}', '{0}')$$, 'NX302', null, 'an earlier life of the node gets nothing');

-- failures
alter sequence core.dead_letters_dead_letter_id_seq restart 1;
select core.alter_namespace('shop', '{"retry": {"shape": "constant", "base": "10 s", "jitter": 0, "max_attempts": 3}}');
update core_private.broadcast_cursors set seen = '250:250:', top = 1000000000, target = null, at_xid = '0', at_id = 0;
select pg_temp.put('260', 'a.bad'), pg_temp.put('261', 'a.good');
select pg_temp.claim();
select is(pg_temp.settle(pg_temp.turn(), '{"action": "retry", "reason": "error", "error": "no"}'), 'retried 00:00:10', 'a failure is tried again by the policy');
select is(pg_temp.take(), '{a.good}', 'and holds up nothing');
select is((select (attempt, action, reason, error, node_id, consumer, due_at - failed_at)::text from core.delivery_errors), '(1,retry,error,no,n1,broadcast:n1,00:00:10)', 'it is recorded');
select is((select (last_error, retrying, next_retry_at - core.now())::text from core.broadcast_cursors), '(no,1,00:00:10)', 'and shown');
update nexus_test.clock set frozen = '2030-01-01 00:00:10Z';
select is((select (type, attempt)::text from pg_temp.claim()), '(a.bad,2)', 'the second attempt');
select is(pg_temp.settle(pg_temp.turn(), '{"action": "release", "after": "5 s"}'), 'released 00:00:05', 'given back');
update nexus_test.clock set frozen = '2030-01-01 00:00:15Z';
select is((select (type, attempt, deferrals)::text from pg_temp.claim()), '(a.bad,2,1)', 'which uses none');
select is(pg_temp.settle(pg_temp.turn(), '{"action": "retry", "after": "1 s", "reason": "error", "error": "no"}'), 'retried 00:00:01', 'a time of its own');
update nexus_test.clock set frozen = '2030-01-01 00:00:16Z';
select is((select (type, attempt)::text from pg_temp.claim()), '(a.bad,3)', 'the last attempt');
select is(pg_temp.settle(pg_temp.turn(), '{"action": "retry", "reason": "error", "error": "no"}'), 'buried', 'ends');
select is((select (namespace, consumer, event_type, source_kind, source_ref ->> 'node', event_id, payload, attempts, first_attempt_at, reason, last_error)::text from core.dead_letters),
  '(shop,broadcast:n1,a.bad,broadcast,n1,7,1,3,"2030-01-01 00:00:00+00",error,no)', 'as a dead letter of the node');
select is((select count(*)::int from pg_temp.claim()), 0, 'nothing is left');
select is((select core.replay_dead_letter(dead_letter_id) is not null from core.dead_letters), true, 'which can be replayed');
select is((select (type, attempt)::text from pg_temp.claim()), '(a.bad,1)', 'for that node, with fresh attempts');
select is(pg_temp.settle(pg_temp.turn(), '{"action": "reject", "reason": "bad"}'), 'buried', 'a reject ends at once');
select is((select (reason, round, replay_of, replay_count)::text from core.dead_letters where status = 'pending'), '(bad,1,1,1)', 'in another round');
select is(pg_temp.settle(pg_temp.turn(), '{"action": "ack"}'), 'lost', 'it is over');

-- a process that dies
update core_private.broadcast_cursors set seen = '300:300:', top = 1000000000, target = null, at_xid = '0', at_id = 0;
select pg_temp.put('310', 'a.deadly'), pg_temp.put('311', 'a.other');
select is((select (type, attempt)::text from pg_temp.claim('1')), '(a.deadly,1)', 'in hand of one process');
select is((select (type, attempt)::text from pg_temp.claim('2')), '(a.other,1)', 'the next one is given what comes behind');
select is(pg_temp.ack(pg_temp.turn(), '2'), 'ok', 'which goes well');
select is((select (d.failures, d.due_at - core.now())::text from core_private.broadcast_deliveries d), '(1,00:00:10)', 'the attempt counts');
update nexus_test.clock set frozen = '2030-01-01 00:00:26Z';
select is((select (type, attempt)::text from pg_temp.claim('2')), '(a.deadly,2)', 'again');
select is((select array_agg(outcome) from pg_temp.claim('3', 2)), '{buried}', 'and the last attempt ends it before anybody else sees it');
select is((select (reason, last_error)::text from core.dead_letters where event_type = 'a.deadly'), '("process died","The process of the node ended while its handlers ran.")', 'with why');
update core_private.broadcast_cursors set seen = '312:312:', top = 1000000000, target = null, at_xid = '0', at_id = 0;
select pg_temp.put('312', 'a.calm');
select is((select type from pg_temp.claim('3')), 'a.calm', 'on');
select pg_temp.ack(pg_temp.turn(), '3');
select is((select array_agg(c.outcome) from pg_temp.claim('4') c), null, 'a process that had nothing in hand leaves no trace');

-- registered again
update core_private.broadcast_cursors set seen = '400:400:', top = 1000000000, target = null, at_xid = '0', at_id = 0;
select pg_temp.put('410', 'a.while'), pg_temp.put('411', 'd.new');
select core_node.heartbeat('n1', me.incarnation, 'stopped') from me;
update me set incarnation = (select r.incarnation from core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["d.*", "a.*"]}') r);
select is((select (seen::text, patterns)::text from core_private.broadcast_cursors), '(400:400:,"{a.*,d.*}")', 'a node that was here goes on where it was');
select is((select type from pg_temp.claim('5')), 'a.while', 'with what came meanwhile');
select pg_temp.ack(pg_temp.turn(), '5');
select core_node.heartbeat('n1', me.incarnation, 'stopped') from me;
update me set incarnation = (select r.incarnation from core_node.register_node('shop', 'n1', true, '{}', '{}') r);
select is((select (patterns, unread)::text from core.broadcast_cursors), '({},0)', 'without handlers it waits for nothing');
select is((select count(*)::int from core_private.broadcast_cursors), 1, 'but keeps its place');
select throws_ok(format('select core_node.register_node(''shop'', ''n9'', true, ''{}'', %L)', i), c, null, i)
  from (values ('{"broadcasts": "a"}', 'NX006'), ('{"broadcasts": [1]}', 'NX006'), ('{"broadcasts": []}', 'NX008'), ('{"broadcasts": ["a b"]}', 'NX008')) v (i, c);
select core.forget_node('n1'), core.forget_node('n1');
select is((select count(*)::int from core_private.broadcast_cursors), 0, 'a cursor goes with its node');
select is((select why from core_private.why_not_replayed('broadcast', 'shop', 'broadcast:n1', '{2}') why), 'node n1 is gone', 'and nothing is replayed to it');

-- by namespace
select core.create_namespace('vault', '{"restricted": true}');
select pg_temp.put('500', 'v', 'vault');
create role t_eve in role nexus_consumer, nexus_reader; grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create temp table v as select r.* from core_node.register_node('vault', 'v1', true, '{}', '{"broadcasts": ["*"]}') r;
grant select on v, me to public;
set local role t_eve;
select is((select count(*)::int from core.broadcasts where namespace = 'vault'), 0, 'rows of a restricted namespace are hidden');
select is((select count(*)::int from core.broadcast_cursors where namespace = 'vault'), 0, 'so are cursors');
select throws_ok($$select core_node.claim_broadcast('v1', v.incarnation, gen_random_uuid(), '{*}', '{0}') from v$$, 'NX302', null, 'its cursors are unknown');
select throws_ok($$select core_node.ack_broadcast('v1', gen_random_uuid(), 1)$$, 'NX104', null, 'for who may not');
select throws_ok($$select core_node.settle_broadcast('v1', gen_random_uuid(), 1, '{}')$$, 'NX104', null, 'in any way');
select throws_ok($$select core_node.holds_broadcast('v1', gen_random_uuid(), 1)$$, 'NX104', null, 'at all');
