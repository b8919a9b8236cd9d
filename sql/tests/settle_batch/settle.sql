-- H3, D2, D4
-- holds: H3
select core.create_namespace('shop', '{"retry": {"base": "10 s", "jitter": 0, "max_attempts": 2}}');
select core.emit_batch('shop', array_fill('a'::text, array[8]), array_fill('1'::jsonb, array[8]));
create temporary table o as select * from core_node.open_express('core_events_shop', 'n1', 4711, '{1,2,3}');
create temporary table s as select * from core_node.settle_batch('core_events_shop', 'n1', (select marker_id from o), '{1,2}', '{0,0}', '{null,null}', pg_temp.failed('{3,4,5}', '{0,0,0}', '{null,null,null}', '{retry,release,reject}', '{null,1 h,null}', '{null,null,null}', '{error,"",bad sku}', '{boom,"",x}'));
select is((select string_agg(outcome || msg_id, ' ' order by msg_id) from s), 'retried3 released4 buried5', 'the outcome of those that are not done');
select is((select array_agg(msg_id order by msg_id) from pgmq.q_core_events_shop), array[3,4,6,7,8]::bigint[], 'those that are done are gone');
select is((select count(*)::int from core_private.express_batches), 0, 'and so is the mark');
select is((select read_ct from pgmq.q_core_events_shop where msg_id = 3), 1, 'a failure counts as read');
select is((select vt between core.now() + interval '9 s' and core.now() + interval '10 s' and (headers ->> 'nexus-due')::timestamptz = vt and headers ->> 'nexus-failures' = '1' from pgmq.q_core_events_shop where msg_id = 3), true, 'due by policy, in vt and headers');
select is((select core_private.header_number(headers, 'nexus-first-at') from pgmq.q_core_events_shop where msg_id = 3), (select (extract(epoch from last_read_at) * 1000000)::bigint from pgmq.q_core_events_shop where msg_id = 3), 'first tried when it was last');
select is((select last_read_at > core.now() - interval '5 s' from pgmq.q_core_events_shop where msg_id = 3), true, 'just now');
select is((select attempt from core.delivery_errors where msg_id = 3), 1, 'recorded as the first attempt');
select is((select format('%s %s', read_ct, headers ->> 'nexus-deferrals') from pgmq.q_core_events_shop where msg_id = 4), '1 1', 'a release is a read and a deferral');
select is((select core_private.attempt_of(read_ct + 1, headers) from pgmq.q_core_events_shop where msg_id = 4), 1, 'so the next attempt is the first still');
select is((select format('%s %s %s', reason, attempts, last_attempt_at > core.now() - interval '5 s') from core.dead_letters where msg_id = 5), 'bad sku 1 t', 'a rejection counts its attempt');
select core_node.settle_batch('core_events_shop', 'n1', 1, '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', '{null}', '{retry}', '{null}', '{null}', '{error}', '{boom}'));
select is((select format('%s %s', reason, attempts) from core.dead_letters where msg_id = 3), 'error 2', 'attempts are used up at the second failure');

-- under leases nothing is counted another time
select core_node.claim_these('core_events_shop', '{6}', '{0}', '30 s');
select core_node.settle_batch('core_events_shop', 'n1', null, '{}', '{}', '{}', pg_temp.failed('{6}', '{1}', pg_temp.ats('{6}'), '{retry}', '{null}', '{null}', '{error}', '{boom}'));
select is((select read_ct from pgmq.q_core_events_shop where msg_id = 6), 1, 'the lease has counted the read');

-- all or nothing
update pgmq.q_core_events_shop set last_read_at = core.now() where msg_id in (7, 8);
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n1', null, '{7,8}', '{0,1}', pg_temp.ats('{7,8}'))$$, 'NX301', null, 'one that was read by somebody else refuses the batch');
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n1', null, '{7,99}', '{0,0}', pg_temp.ats('{7,99}'))$$, 'NX301', null, 'one that is gone too');
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n1', null, '{7}', '{0}', pg_temp.ats('{7}'), pg_temp.failed('{8}', '{5}', pg_temp.ats('{8}'), '{retry}', '{null}', '{null}', '{error}', '{boom}'))$$, 'NX301', null, 'a failed one as well');
select is((select count(*)::int from pgmq.q_core_events_shop where msg_id in (7, 8)), 2, 'nothing has happened');
select throws_ok($$select core_node.settle_batch('core_events_shop', 'n1', null, '{7}', '{0,1}', pg_temp.ats('{7}'))$$, 'NX006', null, 'arrays are parallel');
select throws_ok($$select core_node.settle_batch('core_events_nowhere', 'n1', null, '{7}', '{0}', pg_temp.ats('{7}'))$$, 'NX103', null, 'unknown queue');

-- leasing by id
create temporary table l as select * from core_node.claim_these('core_events_shop', '{7,8,99}', '{0,3,0}', '30 s');
select is((select string_agg(msg_id || '/' || read_ct, ' ') from l), '7/1', 'exactly these, if they are as they were');
select is((select vt between core.now() + interval '25 s' and core.now() + interval '30 s' and last_read_at > core.now() - interval '5 s' from pgmq.q_core_events_shop where msg_id = 7), true, 'leased');
select is((select count(*)::int from core_node.claim_these('core_events_shop', '{7}', '{1}', '30 s')), 0, 'and due');
select throws_ok($$select core_node.claim_these('core_events_shop', '{7}', '{1,2}', '30 s')$$, 'NX006', null, 'arrays are parallel here too');
select throws_ok($$select core_node.claim_these('core_events_nowhere', '{7}', '{1}', '30 s')$$, 'NX103', null, 'unknown queue');
