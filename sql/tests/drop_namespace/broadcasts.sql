-- What nodes have not read of broadcasts, or get again, is undelivered
-- holds: NS5, broadcast
select core.create_namespace('shop', '{"default_consumer": "off"}');
create temp table me as select r.* from core_node.register_node('shop', 'n', true, '{}', '{"broadcasts": ["a"]}') r;
update core_private.broadcast_cursors set seen = '100:100:', top = 1000000000;
insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
select 'shop', core_private.cluster_id(), x::xid8, 7, gen_random_uuid(), t, core.now(), jsonb_build_object('eventType', t) from (values ('99', 'a'), ('110', 'b')) v (x, t);
savepoint read;
select lives_ok($$select core.drop_namespace('shop', 'shop')$$, 'what was read, or no node handles, is in nobody''s way');
rollback to read;
update core.broadcasts set event_type = 'a';
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'refuses while a node has not read one');
update core.nodes set state = 'stopped';
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'also one that may come back');
update core.nodes set state = 'active';
select is((select c.outcome from me, core_node.claim_broadcast('n', me.incarnation, rpad('1', 32, '0')::uuid, '{a}', '{0}') c), 'claimed', 'in hand');
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'or has it in hand');
select core_node.settle_broadcast('n', rpad('1', 32, '0')::uuid, 1, '{"action": "retry", "after": "1 h"}');
delete from core.broadcasts;
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'or is to get it again');
select core.drop_namespace('shop', 'shop', true);
select is((select count(*)::int from core_private.broadcast_cursors), 0, 'forced: it is gone');
