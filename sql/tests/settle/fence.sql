-- D2, D3, D4
-- holds: D2, D3, D4
select core.create_namespace('shop');
select core.emit_batch('shop', array_fill('a'::text, array[6]), array_fill('{}'::jsonb, array[6]));
create temporary table c as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
create temporary table before as select * from pgmq.q_core_events_shop;
select is((select array_agg(outcome || msg_id order by msg_id) from core_node.settle('core_events_shop', 'n', '{1,2}', '{0,2}', pg_temp.ats('{1,2}'), pg_temp.failed('{3,4,5}', '{0,2,9}', pg_temp.ats('{3,4,5}'), '{retry,reject,release}', '{null,null,1 s}', '{null,null,null}', '{a,b,c}', '{a,b,c}'))),
          array['lost1', 'lost2', 'lost3', 'lost4', 'lost5'], 'a stale fence is told it is lost');
select is((select array_agg(msg_id) from core_node.extend('core_events_shop', '{1,2}', '{1,7}', pg_temp.ats('{1,2}'), '60 s')), array[2::bigint], 'extend returns what is lost');
select throws_ok($$select core.ack('shop', 'default', 1, 2, (pg_temp.ats('{1}'))[1])$$, 'NX301', null, 'ack raises');
select is((select count(*)::int from pgmq.q_core_events_shop q join before b using (msg_id, read_ct) where q.headers is not distinct from b.headers and (q.vt = b.vt or q.msg_id = 1)), 6, 'and nothing has changed');
select is((select count(*)::int from core.dead_letters) + (select count(*)::int from core.delivery_errors), 0, 'nothing is recorded');
select is((select array_agg(outcome || msg_id order by msg_id) from core_node.settle('core_events_shop', 'n', '{1}', '{1}', pg_temp.ats('{1}'), pg_temp.failed('{2,3,4,5}', '{1,1,1,1}', pg_temp.ats('{2,3,4,5}'), '{retry,reject,release,retry}', '{1 h,null,1 h,null}', array[null,null,null,'{"max_attempts":1}']::jsonb[], '{x,bad sku,"",""}', '{boom,why,"",last}'))),
          array['retried2', 'buried3', 'released4', 'buried5'], 'a mixed outcome in one call');
select is((select array_agg(msg_id order by msg_id) from pgmq.q_core_events_shop), array[2, 4, 6]::bigint[], 'acked and buried ones are gone');
select is((select array_agg((headers ->> 'nexus-due')::timestamptz = vt) from pgmq.q_core_events_shop where msg_id in (2, 4)), array[true, true], 'the due time is in the headers');
select is((select headers ->> 'nexus-deferrals' from pgmq.q_core_events_shop where msg_id = 4), '1', 'a release is counted as a deferral');
update nexus_test.clock set shift = '61 min';
select is((select array_agg(read_ct - coalesce((headers ->> 'nexus-deferrals')::int, 0) order by msg_id) from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where msg_id in (2, 4)), array[2, 1], 'a retry uses an attempt, a release none');
select is((select (attempt, action, reason, error, node_id)::text from core.delivery_errors where msg_id = 2), '(1,retry,x,boom,n)', 'the failed attempt is recorded');
select lives_ok($$select core.ack('shop', 'default', 4, 2, (pg_temp.ats('{4}'))[1])$$, 'ack with the fence in hand');
select throws_ok($$select core_node.settle('core_events_shop', 'n', '{2}', '{}', '{}')$$, 'NX006', null, 'arrays are parallel');
create function pg_temp.field(p_failed jsonb, p_cts integer[] = '{1}', p_ats timestamptz[] = array[core.now()]) returns text language plpgsql as $$
declare v_field text; begin
  perform core_node.settle('core_events_shop', 'n', '{99}', p_cts, p_ats, p_failed);
  return 'none';
exception when others then
  get stacked diagnostics v_field = column_name;
  return sqlstate || ' ' || v_field;
end $$;
select is(pg_temp.field(f), said, 'an error names the place and the field: ' || said)
  from (values ('[{"id": 2, "ct": 2, "action": "retry"}, {"id": 3, "action": "retry"}]'::jsonb, 'NX005 p_failed[2].ct'), ('[{"ct": 2, "action": "retry"}]', 'NX005 p_failed[1].id'),
    ('[{"id": 2, "ct": 2}]', 'NX005 p_failed[1].action'), ('[{"id": 2, "ct": 2, "action": "release"}]', 'NX005 p_failed[1].after'),
    ('[{"id": 2, "ct": 2, "action": "reject"}, {"id": 2, "ct": 2, "action": "retry", "policy": {"base": "x"}}]', 'NX005 p_failed[2].policy.base'),
    ('[{"id": 2, "ct": 2, "action": "retry", "policy": {"nope": 1}}]', 'NX007 p_failed[1].policy'),
    ('[{"id": "x"}]', 'NX006 p_failed'), ('[1]', 'NX006 p_failed'), ('{}', 'NX006 p_failed'), ('[{"id": 2, "ct": 2, "action": "retry", "after": "soon"}]', 'NX006 p_failed')) v(f, said);
select is(pg_temp.field('[]', '{}'), 'NX006 p_ack_cts', 'as do those of acks');
select is(pg_temp.field('[]', '{1}', '{}'), 'NX006 p_ack_ats', 'and of their times');
select throws_ok($$select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{2}', '{2}', pg_temp.ats('{2}'), '{retry}', '{31 days}', '{null}', '{x}', '{x}'))$$, 'NX005', null, 'a retry lies within 30 days');
select throws_ok($$select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{2}', '{2}', pg_temp.ats('{2}'), '{dance}', '{null}', '{null}', '{x}', '{x}'))$$, 'NX005', null, 'actions are known');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{2}', '{2}', pg_temp.ats('{2}'), '{retry}', '{null}', '{null}', '{x}', array[repeat('ü', 9000)]));
select ok((select octet_length(error) <= 8192 from core.delivery_errors where attempt = 2), 'an error text is cut to 8 KB');
