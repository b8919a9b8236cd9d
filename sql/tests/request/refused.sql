-- R3, R4: what is no request is refused by name
-- holds: R4 (awaited before the commit)
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
create function pg_temp.said(p_call text) returns text language plpgsql as $$
declare v_column text;
begin
  execute 'select ' || p_call;
  return 'done';
exception when others then
  get stacked diagnostics v_column = column_name;
  return sqlstate || ' ' || v_column || ': ' || sqlerrm;
end $$;
select is(pg_temp.said(format('core.request(%L, %s)', 'shop', args)), said, coalesce(left(args, 60), '')) from (values
  ('null', 'NX006 p_target: NULL is no key of a handler'),
  ('''''', 'NX006 p_target: ''go:'' is no key of a handler'),
  ('''a b''', 'NX006 p_target: ''go:a b'' is no key of a handler'),
  ('''mail:x''', 'NX006 p_target: ''go:mail:x'' is no key of a handler'),
  ('''go:''', 'NX006 p_target: ''go:'' is no key of a handler'),
  ('repeat(''a'', 101)', 'NX006 p_target: ''go:' || repeat('a', 101) || ''' is no key of a handler'),
  ('repeat(''a'', 100)', 'done'), ('''sql:a''', 'NX111 p_target: namespace ''shop'' has no handler ''sql:a'''), ('''workflow:a''', 'done'), ('''go:a''', 'done'), ('''a.b/c-d''', 'done'),
  ('''a'', null', 'NX003 p_payload: the payload is SQL NULL'),
  ('''a'', ''null''', 'done'),
  ('''a'', to_jsonb(repeat(''x'', 1999))', 'NX601 p_payload: the payload has 2001 bytes, at most 2000 are allowed'),
  ('''a'', ''1e400''', 'NX003 p_payload: the payload holds a number beyond 1e308'),
  ('''a'', ''1'', null', 'NX005 p_options: p_options is not an object: NULL'),
  ('''a'', ''1'', ''{"delay": "1 s"}''', 'NX004 delay: there is no option ''delay'''),
  ('''a'', ''1'', ''{"timeout": "6 min"}''', 'NX005 timeout: timeout is out of range: 00:06:00'),
  ('''a'', ''1'', ''{"timeout": "5 min"}''', 'done'),
  ('''a'', ''1'', ''{"timeout": "0 s"}''', 'NX005 timeout: timeout is out of range: 00:00:00'),
  ('''a'', ''1'', ''{"timeout": "-1 s"}''', 'NX005 timeout: timeout is out of range: -00:00:01'),
  ('''a'', ''1'', ''{"timeout": 5}''', 'NX005 timeout: timeout is not a duration: 5'),
  ('''a'', ''1'', ''{"timeout": null}''', 'NX005 timeout: timeout is not a duration: null'),
  ('''a'', ''1'', ''{"headers": {"nexus-due": "1"}}''', 'NX005 headers.nexus-due: headers.nexus-due cannot be "1"')) x (args, said);
select is(pg_temp.said('core.request(''nowhere'', ''a'')'), 'NX101 p_namespace: there is no namespace ''nowhere''', 'a namespace that is not there');
select is(pg_temp.said(format('core.%s(%L)', f, '01900000-0000-7000-8000-00000000cafe')), 'NX113 p_inbox_id: there is no request 01900000-0000-7000-8000-00000000cafe', f) from unnest('{take_reply,await_reply}'::text[]) f;
select is(pg_temp.said(format('core.%s(null)', f)), 'NX113 p_inbox_id: there is no request NULL', f || ' of NULL') from unnest('{take_reply,await_reply}'::text[]) f;
select is(core.cancel_request(null), false, 'nothing to cancel');
select is((select state from core_node.begin_request(null)), 'gone', 'nor to begin');
select is(pg_temp.said(format('core.await_reply(%L, %s)', '01900000-0000-7000-8000-00000000cafe', t)), said, 'for ' || t) from (values
  ('null', 'NX006 p_timeout: p_timeout cannot be NULL'), ('''6 min''', 'NX006 p_timeout: p_timeout cannot be 00:06:00'), ('''-1 s''', 'NX006 p_timeout: p_timeout cannot be -00:00:01')) x (t, said);

-- a reply follows a commit
create temp table asked as select core.request('shop', 'a') as id;
select is(pg_temp.said(format('core.%s(%L)', f, id)), 'NX219 p_inbox_id: the request was made in this transaction, which no node sees before it is committed', f || ' in the transaction that asks')
  from asked, unnest('{take_reply,await_reply}'::text[]) f;
do $$ begin perform core.request('shop', 'b'); end $$;
select is(pg_temp.said(format('core.take_reply(%L)', inbox_id)), 'NX219 p_inbox_id: the request was made in this transaction, which no node sees before it is committed', 'also from a savepoint') from core.inbox where target = 'go:b';
select is(core.cancel_request(id), false, 'what is answered cannot be cancelled') from asked;

-- no request
select core_node.require_routed('shop', 'requests');
insert into pgmq.q_core_events_shop__requests (vt, message) values (now(), '{"eventType": "go:a"}'), (now(), '{"eventType": "go:a", "replyTo": "x"}'), (now(), '{"eventType": "go:a", "replyTo": {"a": 1}}');
create temp table m as select * from core_node.claim('core_events_shop__requests', '{*}', '{-1}', 10, '30 s') where outcome = 'claimed';
select is(pg_temp.said(format('core_node.answer_request(%L, %s, %s, %L, 500)', 'core_events_shop__requests', msg_id, read_ct, last_read_at)), format('NX006 p_msg_id: message %s of core_events_shop__requests is no request', msg_id), 'a message that was sent by hand') from m;
select is(pg_temp.said('core_node.answer_request(''core_events_shop__requests'', 4711, 1, now(), 500)'), 'NX301 p_read_ct: the lease of message 4711 of core_events_shop__requests is lost', 'a message that is gone');
select is(pg_temp.said('core_node.answer_request(''nope'', 4711, 1, now(), 500)'), 'NX103 p_queue: there is no queue ''nope''', 'a queue that is none');
