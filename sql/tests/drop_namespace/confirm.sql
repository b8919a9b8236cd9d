-- NS5
-- holds: NS5
select core.create_namespace('shop'), core.create_namespace('other');
select core.emit('other', 'x');
select throws_ok($$select core.drop_namespace('shop', 'shp')$$, 'NX206', null, 'asks for the name twice');
select throws_ok($$select core.drop_namespace('shop', null)$$, 'NX206', null, 'NULL is no confirmation');
select core.emit('shop', 'x', '1', '{"delay": "1 h"}');
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'refuses while events are delayed');
delete from core.delayed;
select core.emit('shop', 'x');
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'refuses while events are undelivered');
select core.drop_namespace('shop', 'shop', true);
select ok(not exists (select from core.namespaces where namespace = 'shop') and to_regclass('pgmq.q_core_events_shop') is null, 'forced: it is gone, with its queues');
select is((select count(*)::int from pgmq.q_core_events_other), 1, 'no other namespace is touched');
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX101', null, 'an unknown one is named');
