-- T6: what waits of a trigger that is disabled with hold is set aside until it is enabled
-- holds: T6 (hold)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer;
select core.create_namespace('shop'), core.create_namespace('closed', '{"restricted": true}');
create function pg_temp.claimed(p_types text[] = '{go:*}') returns text[] language sql as $$
  select coalesce(array_agg(concat_ws(' ', outcome, message ->> 'trigger', message ->> 'payload') order by outcome, message ->> 'eventId', message ->> 'trigger'), '{}') from core_node.claim('core_events_shop__triggers', p_types, array_fill(0, array[cardinality(p_types)]), 10, '30 s') c where outcome in ('claimed', 'buried') $$;
create function pg_temp.aside() returns text[] language sql as $$
  select coalesce(array_agg(concat_ws(' ', d.message ->> 'trigger', d.message ->> 'payload', case when d.due_at < 'infinity' then 'due' end) order by d.message ->> 'eventId', d.message ->> 'trigger', d.delayed_id), '{}') from core.delayed d where d.queue_name ~ 'triggers' $$;
select core.create_trigger('shop', t, '{"event": {"pattern": "order.*"}}', 'go:' || t, '{"retry": {"max_attempts": 5}}') from unnest('{held,other}'::text[]) t;

-- what is queued, leased, for a retry, delayed and parked
select core.emit('shop', 'order.made', '"leased"');
select is(pg_temp.claimed(), '{"claimed held leased","claimed other leased"}', 'two are being handled');
select core.emit('shop', 'order.made', '"retried"');
select is((select count(*)::int from core_node.claim('core_events_shop__triggers', '{go:held}', '{0}', 10, '30 s') c cross join lateral core_node.settle('core_events_shop__triggers', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', 'retry', 'after', '1 minute', 'error', 'no'))) s where c.outcome = 'claimed' and s.outcome = 'retried'), 1, 'one waits for a retry');
select core.emit('shop', 'order.made', '"delayed"', '{"delay": "1 hour"}'), core.emit('shop', 'order.made', '"queued"');
insert into core_private.parking (queue_name, seen_at) values ('core_events_shop__triggers', now()) on conflict do nothing;
with gone as (delete from pgmq.q_core_events_shop__triggers where message ->> 'payload' = 'queued' and message ->> 'trigger' = 'held' returning *)
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, headers, parked_at, lived)
select 'core_events_shop__triggers', 'go:held', msg_id, 'shop', read_ct, enqueued_at, message, headers, now(), '0' from gone;
select core.emit('shop', 'order.made', '"last"');
create temp table late as select * from pgmq.q_core_events_shop__triggers where message ->> 'payload' = 'last' and message ->> 'trigger' = 'held';

set session authorization t_app; set search_path = tap, pg_catalog;
select is(core.disable_trigger('shop', 'held', true), true, 'held');
select is(core.disable_trigger('shop', 'held', true), false, 'once');
select is(core.disable_trigger('shop', 'held'), false, 'it stays so');
select throws_ok($$select core.disable_trigger('shop', 'held', null)$$, 'NX006', null, 'NULL says nothing');
reset session authorization;
select is((select (enabled, held)::text from core.trigger_status where name = 'held'), '(f,t)', 'the status says so');
select is(pg_temp.aside(), '{"held retried","held delayed","other delayed due","held queued","held last"}', 'what waits is set aside, and nothing of others');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers where message ->> 'trigger' = 'held'), 1, 'what is being handled goes on');
select is(core.emit('shop', 'order.made', '"after"') is not null, true, 'emits go on');
select is(pg_temp.claimed(), '{"claimed other retried","claimed other queued","claimed other last","claimed other after"}', 'claims have what is left');

-- what an emit that still saw it delivers
insert into pgmq.q_core_events_shop__triggers overriding system value select * from late;
select is(pg_temp.claimed(), '{}', 'what comes later is not claimed');
select is((pg_temp.aside())[6], 'held last', 'but set aside');
delete from core.delayed where delayed_id = (select max(delayed_id) from core.delayed);
insert into pgmq.q_core_events_shop__triggers overriding system value select * from late;
select is((select count(*)::int from core_node.claim_batch('core_events_shop__triggers', '{go:held}', '{0}', 10, p_lease => '30 s') where outcome = 'claimed'), 0, 'nor in a batch');
delete from core.delayed where delayed_id = (select max(delayed_id) from core.delayed);
insert into pgmq.q_core_events_shop__triggers overriding system value select (jsonb_populate_record(l, '{"vt": "-infinity"}')).* from late l;
select is(pg_temp.claimed(), '{}', 'whatever time it has');
select is((select headers -> 'nexus-held' from core.delayed order by delayed_id desc limit 1), '0', 'it is kept');
delete from core.delayed where delayed_id = (select max(delayed_id) from core.delayed);

-- nobody is confused
delete from core.delayed where due_at < 'infinity';
select is(core_node.next_delayed_due(), null, 'nothing is due some time');
select is(core_node.promote_delayed(), 0, 'nothing comes back');
select is((select (delayed, parked)::text from core.queue_metrics where queue_name = 'core_events_shop__triggers'), '(4,0)', 'they count as delayed');
select is((select array_agg(distinct coalesce(vt::text, '-')) from core.peek('core_events_shop__triggers', 100) where state = 'delayed'), '{-}', 'without a time');

-- enabled again
set session authorization t_app; set search_path = tap, pg_catalog;
select is(core.enable_trigger('shop', 'held'), true, 'enabled');
reset session authorization;
select is((select (enabled, held)::text from core.trigger_status where name = 'held'), '(t,f)', 'it is held no more');
select is((select array_agg(concat_ws(' ', message ->> 'payload', due_at > core_private.now() + '30 minutes', headers ? 'nexus-held', read_ct) order by delayed_id) from core.delayed), '{"delayed t f","queued f f 0","retried f f 1","last f f 0"}', 'each is due when it was');
select is(core_node.promote_delayed(), 2, 'they come back');
select is(pg_temp.claimed(), '{"claimed held queued","claimed held last"}', 'as they were');
-- replaced by one that is enabled
select core.disable_trigger('shop', 'other', true);
select core.emit('shop', 'order.made', '"x"');
select core.create_trigger('shop', 'other', '{"event": {"pattern": "order.*"}}', 'go:new', '{"enabled": true, "replace": true}');
select is((select (enabled, held)::text from core.trigger_status where name = 'other'), '(t,f)', 'what enables it ends the hold');
-- deleted while held
select core.disable_trigger('shop', 'held', true);
select is(core.delete_trigger('shop', 'held'), 6::bigint, 'deleted with what is held');
-- by id
select set_config('t.hidden', core.create_trigger('closed', 'hidden', '{"event": {"pattern": "a"}}', 'go:a')::text, false), set_config('t.id', (select trigger_id::text from core.triggers where name = 'other'), false);
create function pg_temp.id() returns uuid language sql as $$ select current_setting('t.id')::uuid $$;
set session authorization t_app; set search_path = tap, pg_catalog;
select is(array[core.disable_trigger(pg_temp.id(), true), core.enable_trigger(pg_temp.id()), core.disable_trigger(pg_temp.id())], '{t,t,t}', 'by id');
select is(core.delete_trigger(pg_temp.id()), 5::bigint, 'also deleted');
select throws_ok(format('select core.%s_trigger(%L::uuid)', v, i), 'NX114', null, v || ' of what is not there, or not to be seen') from unnest('{enable,disable,delete}'::text[]) v cross join unnest(array[current_setting('t.id'), current_setting('t.hidden'), null]) i;
