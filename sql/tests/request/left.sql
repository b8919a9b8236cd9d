-- R3: what nobody waits for leaves nothing but abandoned executions, and these go by themselves
-- holds: R3
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop'), core.create_namespace('mall');
select core_node.require_routed('shop', 'requests'), core_node.require_routed('mall', 'requests');
select core_node.register_node(n, n || '1', true, '{go:price}', '{}', '{requests}') from unnest('{shop,mall}'::text[]) n;
create temp table asked as select n as name, core.request(case when n = 'mall' then 'mall' else 'shop' end, 'price', '1', '{"timeout": "10 s"}') as id from unnest('{waits,runs,failed,done,mall}'::text[]) n;
create function pg_temp.begin(p_queue text, p_names text[]) returns void language plpgsql as $$
declare r record;
begin
  for r in select a.name, c.* from core_node.claim(p_queue, '{*}', '{-1}', 100, '30 s') c join asked a on a.id = (c.message ->> 'replyTo')::uuid where c.outcome = 'claimed' loop
    continue when r.name <> all (p_names);
    perform core_node.begin_request((r.message ->> 'replyTo')::uuid);
    if r.name in ('failed', 'done', 'mall') then
      perform core_node.answer_request(p_queue, r.msg_id, r.read_ct, r.last_read_at, case r.name when 'failed' then 500 else 200 end, case when r.name <> 'failed' then to_jsonb(repeat('é', 3000)) end, case when r.name = 'failed' then 'no luck' end);
    end if;
  end loop;
end $$;
select pg_temp.begin('core_events_shop__requests', '{runs,failed,done}'), pg_temp.begin('core_events_mall__requests', '{mall}');
insert into asked values ('none', core.request('shop', 'go:none', '1', '{"timeout": "10 s"}'));
update nexus_test.clock set shift = '10.999 s';
select is(core_private.expire_requests(), '{"expired": 0, "abandoned": 0}', 'for a second all stays');
update nexus_test.clock set shift = '11 s';
select is((select (every, driven_by)::text from core.sweep_status where name = 'requests'), '(00:00:10,tick)', 'a sweep');
select is(core.run_sweep('requests') -> 'result', '{"expired": 6, "abandoned": 3}', 'takes all away');
select is((select count(*)::int from core.inbox), 0, 'all');
select is((select string_agg(concat_ws(' ', k.name, x.namespace, x.target, x.status, x.why, left(x.summary, 10)), ', ' order by k.name) from core.abandoned_executions x join asked k on k.id = x.inbox_id),
  'done shop go:price 200 not taken "ééééééééé, failed shop go:price 500 not taken no luck, mall mall go:price 200 not taken "ééééééééé', 'what handlers did for nobody is kept');
select is((select max(octet_length(summary)) <= 4096 and max(length(summary)) = 1024 from core.abandoned_executions), true, 'the beginning of it');
-- in batches
select count(core.request('shop', 'price', '1', '{"timeout": "1 s"}')) from generate_series(1, 25);
update nexus_test.clock set shift = '13 s';
select is(core_private.expire_requests(10), '{"expired": 25, "abandoned": 0}', 'in batches');
-- retention
update nexus_test.clock set shift = '7 days 10 s';
select is((core_private.apply_retention() ->> 'abandoned_executions'), '0', 'for seven days');
update nexus_test.clock set shift = '7 days 11 s';
select is((core_private.apply_retention() ->> 'abandoned_executions'), '3', 'and no longer');

-- no dead letters: whoever waits is told instead
update core.nodes set last_heartbeat = core.now(), state = 'active';
insert into asked values ('buried', core.request('shop', 'price')), ('buried2', core.request('shop', 'price'));
create temp table m as select msg_id, read_ct, (message ->> 'replyTo')::uuid as id from core_node.claim('core_events_shop__requests', '{*}', '{-1}', 100, '30 s') where outcome = 'claimed';
select core_node.begin_request((select id from asked where name = 'buried'));
insert into pgmq.q_core_events_shop__requests (vt, message) values (now(), '{"eventType": "go:price", "n": 1}');
select is((select count(*)::int from core_private.bury('core_events_shop__requests', null, (select array_agg(msg_id) from pgmq.q_core_events_shop__requests), (select array_agg(read_ct) from pgmq.q_core_events_shop__requests),
  (select array_agg('why'::text) from pgmq.q_core_events_shop__requests), (select array_agg(null::text) from pgmq.q_core_events_shop__requests))), 30, 'all is removed');
select is((select count(*)::int from pgmq.q_core_events_shop__requests), 0, 'from the queue');
select is((select string_agg(concat_ws(' ', a.name, i.state, i.status, i.error), ', ' order by a.name) from core.inbox i join asked a on a.id = i.inbox_id), 'buried answered 502 why, buried2 answered 503 why', 'and whoever waits knows');
select is((select count(*)::int from core.dead_letters), 1, 'what somebody sent by hand is a dead letter as elsewhere');

-- a namespace that is dropped takes its requests along
select core.request('mall', 'price');
insert into core.abandoned_executions (inbox_id, namespace, target, status, why, created_at) values (gen_random_uuid(), 'mall', 'x', 200, 'x', now()), (gen_random_uuid(), 'shop', 'x', 200, 'x', now());
select core.drop_namespace('mall', 'mall', true);
select is((select string_agg(distinct namespace, ' ') from (select namespace from core.inbox union all select namespace from core.abandoned_executions) x), 'shop', 'the others stay');
