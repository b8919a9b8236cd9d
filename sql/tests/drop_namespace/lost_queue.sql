-- A namespace whose queues have lost tables is dropped like any other, with what is left of them.
-- holds: NS1-lost-queues
select core.create_namespace('shop');
drop table pgmq.q_core_events_shop, pgmq.a_core_events_shop_dlq;
select core.drop_namespace('shop', 'shop');
select is((select count(*)::int from pgmq.meta where queue_name ~ 'core_events_shop'), 0, 'pgmq forgets them');
select is((select array_agg(relname::text) from pg_class where relname ~ 'core_events_shop'), null, 'nothing is left');
select core.create_namespace('shop');
delete from pgmq.meta where queue_name = 'core_events_shop';
select core.drop_namespace('shop', 'shop');
select is((select array_agg(relname::text) from pg_class where relname ~ 'core_events_shop'), null, 'nor of one that pgmq did not know');
