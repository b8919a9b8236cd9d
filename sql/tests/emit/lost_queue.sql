-- What goes to a queue that has lost its table is refused by name; what does not is emitted, and what is delayed waits for the table.
-- holds: NS1-lost-queues
select core.create_namespace('shop');
create function pg_temp.consumer(p_name text, p_patterns text[]) returns void language plpgsql as $$
declare v_id integer;
begin
  insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', p_name, p_patterns, 'core_events_shop__' || p_name) returning consumer_id into v_id;
  insert into core.queues (queue_name, namespace, consumer_id) values ('core_events_shop__' || p_name, 'shop', v_id);
end $$;
select pg_temp.consumer('mail', '{order.*}');
set local role nexus_owner;
select core_private.create_queue('core_events_shop__mail');
reset role;
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', t, '* * * * *', t) from unnest('{order.a,other}'::text[]) t;

drop table pgmq.q_core_events_shop__mail;
select throws_ok($$select core.emit('shop', 'order.a')$$, 'NX110', $$queue tables of namespace 'shop' are missing$$, 'emit, of what matches');
select lives_ok($$select core.emit('shop', 'other')$$, 'not of another');
select throws_ok($$select core.emit_batch('shop', '{other,order.a}', '{1,2}')$$, 'NX110', null, 'a batch in which one matches');
select throws_ok($$select core.emit_batch('shop', '{other,order.a}', '{1,2}', array['{"delay": "1 h"}', '{}']::jsonb[])$$, 'NX110', null, 'with options, too');
select lives_ok($$select core.emit_batch('shop', '{other,other}', '{1,2}')$$, 'not one in which none does');
select throws_ok($$select core.run_task_now('shop', 'order.a')$$, 'NX110', null, 'a task');
select lives_ok($$select core.run_task_now('shop', 'other')$$, 'not one of another type');
select is((select count(*)::int from pgmq.q_core_events_shop), 4, 'the others went to their queue');
select lives_ok($$select core.emit('shop', 'order.a', '{}', '{"delay": "1 h"}')$$, 'what is delayed waits for it');
select lives_ok($$select core.emit_batch('shop', '{order.a,other}', '{1,2}', array['{"delay": "1 h"}', '{}']::jsonb[])$$, 'in a batch as well');
select is((select count(*)::int from core.delayed where queue_name = 'core_events_shop__mail'), 2, 'both');

drop table pgmq.q_core_events_shop;
select throws_ok($$select core.emit('shop', 'other')$$, 'NX110', $$queue tables of namespace 'shop' are missing$$, 'emit to the consumer default');
select throws_ok($$select core.emit_batch('shop', '{other}', '{1}')$$, 'NX110', $$queue tables of namespace 'shop' are missing$$, 'a batch');
select throws_ok($$select core.emit_batch('shop', '{other,other}', '{1,2}', array['{"delay": "1 h"}', null]::jsonb[])$$, 'NX110', null, 'one of which something is due at once');
select throws_ok($$select core.run_task_now('shop', 'other')$$, 'NX110', null, 'a task');
select throws_ok($$select core.backfill_task((select task_id from core.scheduled_tasks where name = 'other'), '2026-12-01 11:50Z', '2026-12-01 11:55Z')$$, 'NX110', null, 'slots of before');
select is((select message_id from core.emit('shop', 'other', '{}', '{"delay": "1 h"}')), null, 'what is delayed waits for it');
select results_eq($$select message_id from core.emit_batch('shop', '{other,other}', '{1,2}', array['{"delay": "1 h"}', '{"delay": "2 h"}']::jsonb[])$$, 'values (null::bigint), (null)', 'a batch, too');
update core.namespaces set default_consumer = false where namespace = 'shop';
select lives_ok($$select core.emit('shop', 'other'), core.emit_batch('shop', '{other}', '{1}')$$, 'without the consumer default nothing goes there');
select ok(core.create_namespace('shop'), 'made again, those of named consumers with them');
update core.namespaces set default_consumer = true where namespace = 'shop';
select lives_ok($$select core.emit('shop', 'order.a'), core.emit_batch('shop', '{order.a}', '{1}')$$, 'all goes on');
select lives_ok($$select core.run_task_now('shop', 'order.a')$$, 'tasks, too');
select is((select (count(*), (select count(*) from pgmq.q_core_events_shop__mail))::text from pgmq.q_core_events_shop), '(3,3)', 'to both');
