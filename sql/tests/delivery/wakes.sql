-- Who waits for a queue is called once a statement that puts something there, and not for what goes elsewhere or comes later.
-- holds: E5, others-notify
select core.create_namespace('shop');
create function pg_temp.consumer(p_name text, p_patterns text[]) returns void language plpgsql as $$
declare v_id integer;
begin
  insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', p_name, p_patterns, 'core_events_shop__' || p_name) returning consumer_id into v_id;
  insert into core.queues (queue_name, namespace, consumer_id) values ('core_events_shop__' || p_name, 'shop', v_id);
  set local role nexus_owner;
  perform core_private.create_queue('core_events_shop__' || p_name);
  reset role;
end $$;
select pg_temp.consumer('mail', '{order.*}'), pg_temp.consumer('bill', '{invoice}');
select core.schedule_task('shop', 'order.a', '* * * * *', 'order.a');
insert into core_private.wake_flags (key, waiting_until) values ('core_events_shop', 'infinity'), ('core_events_shop__mail', 'infinity');
create temporary table woken (key text);
grant all on woken to public;
create or replace function core_private.wake(p_key text, p_now timestamptz) returns void language sql as $$ insert into pg_temp.woken values (p_key) $$;
create function pg_temp.woken() returns text language sql as $$
  with w as (delete from woken where key <> 'timers' returning key) select string_agg(replace(key, 'core_events_shop', ''), ',' order by key) from w $$;
select core.emit('shop', 'order.a');
select is(pg_temp.woken(), ',__mail', 'emit');
select core.emit_batch('shop', '{order.a,order.b,other}', '{1,2,3}');
select is(pg_temp.woken(), ',__mail', 'a batch');
select core.emit_batch('shop', '{order.a,invoice}', '{1,2}', array['{"delay": "1 h"}', null]::jsonb[]);
select is(pg_temp.woken(), ',__bill,__mail', 'one of which something is due at once');
select core.emit('shop', 'order.a', '1', '{"delay": "1 h"}'), core.emit_batch('shop', '{order.a}', '{1}', '{"{\"delay\": \"1 h\"}"}');
select is(pg_temp.woken(), null, 'not for what is delayed');
select core.run_task_now('shop', 'order.a');
select is(pg_temp.woken(), ',__mail', 'a task');
