-- R1, R2, R3, R5: one request from the question to the reply, and each way in which it may end otherwise
-- holds: R1, R2
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
-- the transaction that asked is another one, as far as these functions can tell
create function pg_temp.ask(p_target text = 'price', p_payload jsonb = '{"n": 1}', p_options jsonb = '{}') returns uuid language plpgsql as $$
declare v_id uuid := core.request('shop', p_target, p_payload, p_options);
begin
  update core.inbox set xact_id = '3' where inbox_id = v_id;
  return v_id;
end $$;
create temp table asked (name text primary key, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$select id from asked where name = $1$$;
-- takes a message as a node does, and begins it
create temp table held (id uuid primary key, msg_id bigint, ct integer, at timestamptz, message jsonb, headers jsonb);
create function pg_temp.claim() returns integer language sql as $$
  with c as (select * from core_node.claim('core_events_shop__requests', '{go:*,*}', '{-1,-1}', 100, '30 s') where outcome = 'claimed'),
  h as (insert into held select (message ->> 'replyTo')::uuid, msg_id, read_ct, last_read_at, message, headers from c
        on conflict (id) do update set ct = excluded.ct, at = excluded.at)
  select count(*)::int from c $$;
create function pg_temp.answer(p_id uuid, p_status integer = 200, p_reply jsonb = '{"cents": 7}', p_error text = null) returns text language sql as $$
  select a.state || ' ' || a.status from held h, core_node.answer_request('core_events_shop__requests', h.msg_id, h.ct, h.at, p_status, p_reply, p_error) a where h.id = p_id $$;
create function pg_temp.taken(p_id uuid) returns text language plpgsql as $$
declare r record;
begin
  select * into r from core.take_reply(p_id);
  return concat_ws(' ', r.state, r.status, r.reply, r.error);
exception when others then return sqlstate;
end $$;

-- nobody there
insert into asked values ('nobody', pg_temp.ask());
select is(pg_temp.taken(pg_temp.id('nobody')), 'answered 503 no live node has the handler go:price', '503 at once where there is no node');
select is((select count(*)::int from core.event_log), 0, 'and no event');
select core_node.require_routed('shop', 'requests');
select core_node.register_node('shop', 'n1', true, '{go:price,go:slow}', '{}', '{requests,requests}');
insert into asked values ('other', pg_temp.ask('other')), ('sql', pg_temp.ask('workflow:price'));
select is(pg_temp.taken(pg_temp.id('other')), 'answered 503 no live node has the handler go:other', 'nor for another handler');
select is(pg_temp.taken(pg_temp.id('sql')), 'answered 503 no live node has the handler workflow:price', 'of whatever kind');
select core_node.register_node('shop', 'n2', true, '{go:*,go:other}', '{}', '{default,default}');
insert into asked values ('default', pg_temp.ask('other'));
select is(pg_temp.taken(pg_temp.id('default')), 'answered 503 no live node has the handler go:other', 'what handles events of that type has no handler of that name');
update nexus_test.clock set shift = '3 min';
insert into asked values ('lost', pg_temp.ask());
select matches(pg_temp.taken(pg_temp.id('lost')), '^answered 503', 'a node that is silent does not live');
update nexus_test.clock set shift = '0';
update core.nodes set state = 'draining' where node_id = 'n1';
insert into asked values ('drains', pg_temp.ask());
select matches(pg_temp.taken(pg_temp.id('drains')), '^answered 503', 'one that drains takes nothing');
update core.nodes set state = 'active' where node_id = 'n1';
select is((select count(*)::int from core.inbox), 0, 'what was taken is gone');

-- asked
insert into asked values ('a', pg_temp.ask(p_options => '{"headers": {"h": "1"}, "correlation_id": "c", "producer": "p", "depth": 2, "causation_uid": "01900000-0000-7000-8000-00000000cafe"}'));
select is((select (event_type, payload, metadata, correlation_id, depth, headers, producer_node_id, causation_uid)::text from core.event_log),
  format('(price,"{""n"": 1}","{""target"": ""go:price"", ""replyTo"": ""%s""}",c,2,"{""h"": ""1""}",p,01900000-0000-7000-8000-00000000cafe)', pg_temp.id('a')), 'the log has it under the name of the handler');
select is((select message - '{eventId,eventUid,emittedAt}'::text[] || jsonb_build_object('headers', headers) from pgmq.q_core_events_shop__requests),
  jsonb_build_object('namespace', 'shop', 'eventType', 'go:price', 'sourceType', 'price', 'payload', '{"n": 1}'::jsonb, 'producerNodeId', 'p', 'correlationId', 'c', 'depth', 2,
    'causationUid', '01900000-0000-7000-8000-00000000cafe', 'replyTo', pg_temp.id('a'), 'headers', '{"h": "1"}'::jsonb), 'and the queue under its key');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'the consumer default does not get it');
select is((select (state, target, requested_at, expires_at, event_uid = (select event_uid from core.event_log))::text from core.request_status), '(waiting,go:price,"2030-01-01 00:00:00+00","2030-01-01 00:00:30+00",t)', 'it waits, for 30 seconds');
select is(pg_temp.taken(pg_temp.id('a')), 'waiting', 'there is no reply yet');
-- begun once
select is(pg_temp.claim(), 1, 'a node claims it');
update nexus_test.clock set shift = '1 s';
select is((select b::text from core_node.begin_request(pg_temp.id('a')) b), '(begun,00:00:29)', 'and begins it');
select is(pg_temp.taken(pg_temp.id('a')), 'running', 'now it runs');
select is((select (state, started_at)::text from core.request_status), '(running,"2030-01-01 00:00:01+00")', 'as the view says');
-- answered, taken once
update nexus_test.clock set shift = '3 s';
select throws_ok(format($$select core_node.answer_request('core_events_shop__requests', %s, %s, %L, 500, null, 'x')$$, msg_id, ct + d, at + d * interval '1 us'), 'NX301', null, 'by nobody whose lease it is not') from held, unnest('{-1,1}'::int[]) d where id = pg_temp.id('a');
select throws_ok(format($$select core_node.answer_request('core_events_shop__requests', %s, %s, %L, 500, null, 'x')$$, msg_id, ct, at + interval '1 us'), 'NX301', null, 'nor by its count alone') from held where id = pg_temp.id('a');
select core.create_namespace('mall');
select core_node.require_routed('mall', 'requests');
insert into pgmq.q_core_events_mall__requests (vt, message) select core.now(), message || '{"namespace": "mall"}' from held where id = pg_temp.id('a');
select is((select a.state from core_node.claim('core_events_mall__requests', '{*}', '{-1}', 1, '30 s') c, core_node.answer_request('core_events_mall__requests', c.msg_id, c.read_ct, c.last_read_at, 500, null, 'x') a where c.outcome = 'claimed'), 'abandoned', 'nor from another namespace');
delete from core.abandoned_executions;
select is(pg_temp.answer(pg_temp.id('a')), 'answered 200', 'and is answered');
select is((select count(*)::int from pgmq.q_core_events_shop__requests), 0, 'the ack is part of that');
select is((select (state, status, answered_at)::text from core.request_status), '(answered,200,"2030-01-01 00:00:03+00")', 'as the view says, too');
select is(pg_temp.taken(pg_temp.id('a')), 'answered 200 {"cents": 7}', 'the reply');
select is(pg_temp.taken(pg_temp.id('a')), 'NX113', 'once');
select throws_ok($$select pg_temp.answer(pg_temp.id('a'))$$, 'NX301', null, 'nothing is answered twice');

-- begun twice
insert into asked values ('twice', pg_temp.ask());
select pg_temp.claim(), core_node.begin_request(pg_temp.id('twice'));
update nexus_test.clock set shift = '5 s';
select is((select b.state from core_node.begin_request(pg_temp.id('twice')) b), 'lost', 'what is begun twice does not run twice');
select is(pg_temp.taken(pg_temp.id('twice')), 'answered 502 the process that ran the handler was lost', 'and whoever asked hears that');
select is((select b.state from core_node.begin_request(pg_temp.id('twice')) b), 'gone', 'nor a third time');
select is(pg_temp.answer(pg_temp.id('twice')), 'abandoned 200', 'if it ended after all, nobody waits');
select is((select (inbox_id, namespace, target, status, why, summary, created_at, event_uid is not null)::text from core.abandoned_executions), format('(%s,shop,go:price,200,"nobody waits","{""cents"": 7}","2030-01-01 00:00:05+00",t)', pg_temp.id('twice')), 'so it is an abandoned execution');
delete from core.abandoned_executions;

-- not begun in time
insert into asked values ('late', pg_temp.ask(p_options => '{"timeout": "2 s"}'));
select pg_temp.claim();
update nexus_test.clock set shift = '6.999 s';
select is(pg_temp.taken(pg_temp.id('late')), 'waiting', 'until its time is over');
update nexus_test.clock set shift = '7 s';
select is((select b::text from core_node.begin_request(pg_temp.id('late')) b), '(late,)', 'then it does not begin');
select is((select state from core.request_status), 'expired', 'which shows');
select is(pg_temp.taken(pg_temp.id('late')), 'expired 504 no reply from go:price within 2.000 seconds', 'and is what whoever asked hears');
-- not ended in time
insert into asked values ('slow', pg_temp.ask(p_options => '{"timeout": "2 s"}'));
select pg_temp.claim(), core_node.begin_request(pg_temp.id('slow'));
update nexus_test.clock set shift = '9 s';
select is(pg_temp.answer(pg_temp.id('slow'), 500, null, 'no luck'), 'abandoned 500', 'what ends when the time is over is abandoned');
select is((select (status, summary)::text from core.abandoned_executions where inbox_id = pg_temp.id('slow')), '(500,"no luck")', 'with what it said');
select is(pg_temp.taken(pg_temp.id('slow')), 'expired 504 no reply from go:price within 2.000 seconds', 'and late for whoever asked');
-- the answer came at the last moment, and the caller is late
insert into asked values ('last', pg_temp.ask(p_options => '{"timeout": "2 s"}'));
select pg_temp.claim(), core_node.begin_request(pg_temp.id('last'));
update nexus_test.clock set shift = '10.999 s';
select is(pg_temp.answer(pg_temp.id('last')), 'answered 200', 'answered in time');
update nexus_test.clock set shift = '11.5 s';
select is(core_private.expire_requests(), '{"expired": 0, "abandoned": 0}', 'is left for a second');
select is(pg_temp.taken(pg_temp.id('last')), 'answered 200 {"cents": 7}', 'for whoever is late');

-- cancelled
insert into asked values ('unbegun', pg_temp.ask()), ('begun', pg_temp.ask()), ('done', pg_temp.ask());
select pg_temp.claim(), core_node.begin_request(pg_temp.id('begun')), core_node.begin_request(pg_temp.id('done'));
select pg_temp.answer(pg_temp.id('done'));
select is(core.cancel_request(pg_temp.id('unbegun')), true, 'cancelled before it began');
select is((select b.state from core_node.begin_request(pg_temp.id('unbegun')) b), 'gone', 'it does not run');
select is(core.cancel_request(pg_temp.id('begun')), true, 'cancelled while it runs');
select is(pg_temp.answer(pg_temp.id('begun')), 'abandoned 200', 'it is abandoned');
select is(core.cancel_request(pg_temp.id('done')), false, 'what is answered is not cancelled');
select is(pg_temp.taken(pg_temp.id('done')), 'answered 200 {"cents": 7}', 'but taken');
select is(core.cancel_request(pg_temp.id('done')), false, 'and what is taken neither');

-- statuses
insert into asked select s.s::text, pg_temp.ask() from unnest('{422,500,502,503,504,507}'::int[]) s(s);
select pg_temp.claim();
select core_node.begin_request(id) from asked where name ~ '^\d';
select is(pg_temp.answer(id, name::int, null, 'said ' || name) || ': ' || pg_temp.taken(id), format('answered %1$s: answered %1$s said %1$s', name), 'status ' || name) from asked where name ~ '^\d';
insert into asked values ('large', pg_temp.ask()), ('fits', pg_temp.ask()), ('none', pg_temp.ask()), ('odd', pg_temp.ask());
select pg_temp.claim();
select core_node.begin_request(pg_temp.id(n)) from unnest('{large,fits,none,odd}'::text[]) n;
select is(pg_temp.answer(pg_temp.id('large'), 200, to_jsonb(repeat('x', 1999))), 'answered 507', 'a reply that is too large');
select is(pg_temp.taken(pg_temp.id('large')), 'answered 507 the reply has 2001 bytes, at most 2000 are allowed', 'is none');
select is(pg_temp.answer(pg_temp.id('fits'), 200, to_jsonb(repeat('x', 1998))), 'answered 200', 'one that just fits');
select is(pg_temp.answer(pg_temp.id('none'), 200, 'null') || ': ' || pg_temp.taken(pg_temp.id('none')), 'answered 200: answered 200 null', 'null is a reply');
select throws_ok(format($$select pg_temp.answer(pg_temp.id('odd'), %s, %s)$$, s, r), c, null, format('no answer: %s %s', s, left(r, 20))) from (values
  ('null', 'null', 'NX006'), ('201', 'null', 'NX006'), ('0', 'null', 'NX006'), ('200', 'null', 'NX006'), ('500', '''1''', 'NX006'), ('200', '''1e400''', 'NX003')) x(s, r, c);
select is(pg_temp.answer(pg_temp.id('odd'), 500, null, repeat('é', 9000)), 'answered 500', 'an error is cut');
select is((select octet_length(error) <= 8192 from core.request_status where inbox_id = pg_temp.id('odd')), true, 'to 8 KB');
