-- HA4: a claim whose commit is lost is given again with the same msg_id and read_ct; the time tells the two apart
-- holds: HA4
select core.create_namespace('shop');
select core.emit_batch('shop', array_fill('a'::text, array[6]), array_fill('{}'::jsonb, array[6]));
create temporary table as_it_was as select * from pgmq.q_core_events_shop;
create function pg_temp.lose() returns void language sql as $$
  update pgmq.q_core_events_shop q set (vt, read_ct, last_read_at) = (select o.vt, o.read_ct, o.last_read_at from as_it_was o where o.msg_id = q.msg_id) $$;
create temporary table lost as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
select pg_temp.lose();
create temporary table held as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
create temporary table before as select * from pgmq.q_core_events_shop;
select is((select count(*)::int from lost l join held h using (msg_id, read_ct)), 6, 'msg_id and read_ct are those of the claim that was lost');
select is((select count(*)::int from lost l join held h using (msg_id) where h.last_read_at > l.last_read_at), 6, 'the time is not');
create function pg_temp.told(p_acks bigint[], p_ids bigint[], p_actions text[]) returns text language sql as $$
  select coalesce(string_agg(s.outcome, ' ' order by s.msg_id), '') from
    (select array_agg(l.read_ct order by l.msg_id) as cts, array_agg(l.last_read_at order by l.msg_id) as ats from lost l where l.msg_id = any (p_acks)) a,
    (select array_agg(l.read_ct order by l.msg_id) as cts, array_agg(l.last_read_at order by l.msg_id) as ats, count(*)::int as n from lost l where l.msg_id = any (p_ids)) f,
    core_node.settle('core_events_shop', 'n', p_acks, a.cts, a.ats, pg_temp.failed(p_ids, f.cts, f.ats, p_actions, array_fill(interval '0', array[f.n]), array_fill(null::jsonb, array[f.n]), array_fill('x'::text, array[f.n]), array_fill('x'::text, array[f.n]))) s $$;
select is(pg_temp.told('{1,2}', '{3,4,5}', '{retry,reject,release}'), 'lost lost lost lost lost', 'settle refuses the one that was lost');
select is((select string_agg(s.outcome, ' ' order by s.outcome) from core_node.settle_and_claim('core_events_shop', 'n', '{1}', '{1}', (select array[last_read_at] from lost where msg_id = 1), '[]', '{a}', '{0}', 5, '30 s') s), 'lost window', 'so does settle with a claim');
select is((select array_agg(e.msg_id order by e.msg_id) from core_node.extend('core_events_shop', '{1,6}', '{1,1}', (select array_agg(last_read_at order by msg_id) from lost where msg_id in (1, 6)), '1 hour') e),
          array[1, 6]::bigint[], 'extend says it is lost');
select throws_ok($$select core.ack('shop', 'default', 1, 1, (select last_read_at from lost where msg_id = 1))$$, 'NX301', null, 'ack raises');
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n', null, '{1}', '{1}', (select array[last_read_at] from lost where msg_id = 1))$$, 'NX301', null, 'a batch is refused');
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n', null, '{}', '{}', '{}', pg_temp.failed('{1}', '{1}', (select array[last_read_at] from lost where msg_id = 1), '{retry}', '{0 s}', '{null}', '{x}', '{x}'))$$,
                 'NX301', null, 'for what failed in it as well');
select throws_ok($$select core.ack('shop', 'default', 1, 1, null)$$, 'NX301', null, 'no time is no fence');
select is((select count(*)::int from pgmq.q_core_events_shop q join before b using (msg_id, read_ct, vt, last_read_at) where q.headers is not distinct from b.headers), 6, 'nothing has changed');
select is((select count(*)::int from core.dead_letters) + (select count(*)::int from core.delivery_errors), 0, 'nothing is recorded');
select is((select count(*)::int from core_node.extend('core_events_shop', '{1,2,3,4,5,6}', '{1,1,1,1,1,1}', (select array_agg(last_read_at order by msg_id) from held), '1 hour')), 0, 'who holds it extends it');
select is((select count(*)::int from pgmq.q_core_events_shop q join held h using (msg_id, last_read_at)), 6, 'and keeps the fence');
select lives_ok($$select core.ack('shop', 'default', 1, 1, (select last_read_at from held where msg_id = 1))$$, 'acks it');
select is((select count(*)::int from core_node.settle_batch('core_events_shop', 'n', null, '{2,3}', '{1,1}', (select array_agg(last_read_at order by msg_id) from held where msg_id in (2, 3)))), 0, 'settles it');
select is((select array_agg(msg_id order by msg_id) from pgmq.q_core_events_shop), array[4, 5, 6]::bigint[], 'and so it is gone');

-- leased by id, after a batch that failed
select pg_temp.lose();
create temporary table taken as select * from core_node.claim_these('core_events_shop', '{4,5,6}', '{0,0,0}', '30 s');
select is((select count(*)::int from taken t join pgmq.q_core_events_shop q using (msg_id, read_ct, last_read_at)), 3, 'claim_these gives the fence as well');
select is(pg_temp.told('{4}', '{5,6}', '{retry,release}'), 'lost lost lost', 'another than the first');
-- and as a batch
select pg_temp.lose();
create temporary table batch as select * from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_lease => '30 s') where outcome = 'claimed';
select is((select count(*)::int from batch t join pgmq.q_core_events_shop q using (msg_id, read_ct, last_read_at)), 3, 'so does claim_batch');
select is(pg_temp.told('{4}', '{5,6}', '{retry,release}'), 'lost lost lost', 'and another');
