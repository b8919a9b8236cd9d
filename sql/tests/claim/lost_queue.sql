-- Whatever touches a queue without a table says so by its code; whatever does not goes on. Rights come first.
-- holds: NS1-lost-queues
select core.create_namespace('shop'), core.create_namespace('vault', '{"restricted": true}');
select core_node.register_node('shop', 'n1', true, '{x}');
create role t_node in role nexus_consumer, nexus_reader, nexus_operator;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
insert into core_private.express_batches (queue_name, xact_id, node_id, lowest, highest, opened_at) values ('core_events_shop', 1, 'n1', 1, 1, core.now());
drop table pgmq.q_core_events_shop, pgmq.q_core_events_vault;
create temporary table calls (sql text, lives boolean);
insert into calls values
  ('core_node.claim(%1$L, ''{x}'', ''{0}'', 1, ''30 s'')', false),
  ('core_node.claim(%1$L, ''{x}'', ''{0}'', 0, ''30 s'')', false),
  ('core_node.claim_batch(%1$L, ''{x}'', ''{0}'', 1, p_key => 1, p_within => ''10 s'')', false),
  ('core_node.claim_batch(%1$L, ''{x}'', ''{0}'', 1, p_lease => ''30 s'')', false),
  ('core_node.claim_these(%1$L, ''{1}'', ''{0}'', ''30 s'')', false),
  ('core_node.settle(%1$L, ''n1'', ''{1}'', ''{1}'', array[core.now()])', false),
  ('core_node.settle(%1$L, ''n1'', ''{}'', ''{}'', ''{}'', pg_temp.failed(''{1}'', ''{1}'', array[core.now()], ''{retry}'', ''{null}'', ''{null}'', ''{r}'', ''{e}''))', false),
  ('core_node.settle_batch(%1$L, ''n1'', null, ''{1}'', ''{1}'', array[core.now()])', false),
  ('core_node.settle_and_claim(%1$L, ''n1'', ''{}'', ''{}'', ''{}'', ''[]'', ''{x}'', ''{0}'', 1, ''30 s'')', false),
  ('core_node.extend(%1$L, ''{1}'', ''{1}'', array[core.now()], ''30 s'')', false),
  ('core.ack(%2$L, ''default'', 1, 1, core.now())', false),
  ('core_node.look(%1$L, ''10 s'')', false),
  ('core_node.open_express(%1$L, ''n1'', 1, ''{1}'')', false),
  ('core.peek(%1$L)', false),
  ('core.purge_queue(%1$L, %1$L)', false),
  ('core_node.wait_for_wake(array[%1$L], ''10 s'')', true),
  ('core_node.consumer_settings(%2$L, ''default'')', true),
  ('core_node.register_node(%2$L, ''n2'', false, ''{x}'')', true),
  ('core_node.unpark(%2$L)', true),
  ('core_node.metrics_sample(%2$L)', true),
  ('core_node.close_express(%1$L, 1)', true),
  ('core_node.recall_express(%1$L, ''n1'', ''{1}'')', true);
select throws_ok('select ' || format(sql, 'core_events_shop', 'shop'), 'NX110', $$queue tables of namespace 'shop' are missing$$, sql) from calls where not lives;
select lives_ok('select ' || format(sql, 'core_events_shop', 'shop'), sql) from calls where lives;
select is((select count(*)::int from core_private.express_batches), 0, 'marks are taken back');
create function pg_temp.as_stranger(p_sql text) returns text language plpgsql as $$
begin
  set local role t_node;
  execute p_sql;
  return 'lives';
exception when others then return sqlstate;
end $$;
select is(pg_temp.as_stranger('select ' || format(sql, 'core_events_vault', 'vault')), 'NX402', 'first the rights: ' || sql) from calls where not lives;
select is((select count(*)::int from core_node.look('core_events_shop_dlq', '1 s')), 1, 'the dead-letter queue is there');
create temporary table d as select * from core.emit('shop', 'x', '{}', '{"delay": "1 h"}');
select is((select state from d, core.event_status(d.event_id)), 'delayed', 'what became of an event is told');
select core.create_namespace('shop');
create temporary table e as select * from core.emit('shop', 'x');
drop table pgmq.q_core_events_shop;
select is((select state || ': ' || detail from e, core.event_status(e.event_id)), 'unknown: the table of its queue is missing', 'as far as it is known');
