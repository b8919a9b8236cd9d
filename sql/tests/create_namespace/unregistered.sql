-- Rows of the registry that were deleted by hand are seen, and come back with what was on the queues.
select core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), core.create_namespace('till');
create temporary table was as select q.queue_name, q.namespace, c.name, c.patterns from core.queues q left join core.consumers c using (consumer_id);
create function pg_temp.harm(p_sql text) returns text language plpgsql as $$
declare v_lost text;
begin
  execute p_sql;
  v_lost := (select string_agg(l.queue_name || ' ' || l.missing::text, ' ' order by l.queue_name) from core.lost_queues l);
  if not core.create_namespace('shop') then return 'not made'; end if;
  if core.create_namespace('shop') then return 'made twice'; end if;
  if exists (table was except select q.queue_name, q.namespace, c.name, c.patterns from core.queues q left join core.consumers c using (consumer_id)) then return 'not as it was'; end if;
  return v_lost;
end $$;
select core.emit('shop', 'x', '1');
select is(pg_temp.harm($$delete from core.queues where queue_name = 'core_events_shop'$$), 'core_events_shop {registry}', 'the row of the queue');
select is(pg_temp.harm($$delete from core.queues where queue_name = 'core_events_shop_dlq'$$), 'core_events_shop_dlq {registry}', 'of that of dead letters');
select is(pg_temp.harm($$delete from core.consumers where namespace = 'shop'$$), 'core_events_shop {registry}', 'of the consumer, and with it of its queue');
select is(pg_temp.harm($$update core.queues set consumer_id = null where queue_name = 'core_events_shop'$$), 'core_events_shop {registry}', 'a queue without its consumer');
select is((select details -> 'made_again' from core.audit_log order by audit_id desc limit 1), '["core_events_shop"]', 'the trail has it');
select is((select count(*)::int from core_node.claim('core_events_shop', '{x}', '{1}', 1, '30 s') where outcome = 'claimed'), 1, 'what was on it can be claimed');
create temporary table ids as select max(msg_id) as n from pgmq.q_core_events_shop;
select is(pg_temp.harm($$delete from core.queues where queue_name = 'core_events_shop'; drop table pgmq.q_core_events_shop$$), 'core_events_shop {registry}', 'the row and the table');
select ok((core.emit('shop', 'x')).message_id > (select n from ids), 'and no id comes back');
-- named consumers
insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', 'mail', '{x}', 'core_events_shop__mail');
select results_eq('select queue_name, missing from core.lost_queues', $$values ('core_events_shop__mail', '{registry}'::text[])$$, 'that of another consumer');
select ok(core.create_namespace('shop'), 'which is made');
select is((select c.patterns from core.queues q join core.consumers c using (consumer_id) where q.queue_name = 'core_events_shop__mail'), '{x}', 'and feeds it');
-- who may not see the namespace sees nothing
select core.alter_namespace('shop', '{"restricted": true}');
delete from core.queues where queue_name = 'core_events_shop';
create role t_reader in role nexus_reader;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
set local role t_reader;
select is_empty('select * from core.lost_queues', 'others see nothing of it');
reset role;
-- dropping takes what is not registered, too
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'what is on such a queue is still there');
select core.drop_namespace('shop', 'shop', true);
select is(to_regclass('pgmq.q_core_events_shop'), null, 'and its table goes with the namespace');
