-- T1, T2, T4, T5: who emits delivers to each trigger that matches
-- holds: T1, T2, T4, T5, T12, T13
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_gone login in role nexus_consumer;
select core.create_namespace('shop');
create function pg_temp.got(p_consumer text = 'triggers') returns text[] language plpgsql as $$
declare v text[]; begin
  execute format('with gone as (delete from pgmq.q_core_events_shop__%s returning msg_id, message) select coalesce(array_agg(concat_ws('' '', message ->> ''eventType'', message ->> ''sourceType'', message ->> ''trigger'', message -> ''payload'') order by message ->> ''eventId'', message ->> ''trigger''), ''{}'') from gone', p_consumer) into v; return v; end $$;
create function pg_temp.t(p_name text, p_pattern text, p_contains jsonb = '{}', p_options jsonb = '{}', p_target text = 'go:mail') returns uuid language sql as $$
  select core.create_trigger('shop', p_name, jsonb_build_object('event', jsonb_build_object('pattern', p_pattern, 'contains', p_contains)), p_target, p_options) $$;
select isnt(pg_temp.t('all', 'order.*'), null, 'a trigger'), isnt(pg_temp.t('exact', 'order.made'), null, 'two'), isnt(pg_temp.t('colon', 'user:*'), null, 'three'), isnt(pg_temp.t('german', 'order.made', '{"country": "DE", "lines": [{"sku": 7}]}'), null, 'four');
select core.emit('shop', 'order.paid', '1');
select is(pg_temp.got(), '{"go:mail order.paid all 1"}', 'what matches is delivered under the type of its own');
select core.emit('shop', 'order.made', '{"country": "DE", "lines": [{"sku": 7.0, "n": 1}]}');
select is(pg_temp.got()::text ~ 'all .* exact .* german ', true, 'to each that matches');
select core.emit('shop', 'order.made', '{"country": "DE", "lines": [{"sku": 8}]}'), core.emit('shop', 'order.made', '"DE"'), core.emit('shop', 'order.made', '["country"]');
select is(cardinality(pg_temp.got()), 6, 'and to none that does not');
select core.emit('shop', t) from unnest(array['order', 'orders.made', 'user.made', 'user:']) t;
select is(pg_temp.got(), '{"go:mail user: colon {}"}', 'by the rule of all patterns');
select is((select count(*)::int from pgmq.q_core_events_shop), 9, 'default gets all as ever');
select core.disable_trigger('shop', n) from unnest(array['all', 'colon', 'german']) n;

-- all who emit
select core.emit('shop', 'order.made', '1', '{"headers": {"a": "b"}, "tags": ["x"], "depth": 8}');
select is((select headers - 'nexus-retry' || jsonb_build_object('tags', message -> 'tags', 'depth', message -> 'depth') from pgmq.q_core_events_shop__triggers), '{"a": "b", "tags": ["x"], "depth": 8}', 'options come along');
select is((select headers -> 'nexus-retry' from pgmq.q_core_events_shop__triggers), '{"max_attempts": 3, "shape": "exponential", "base": "1000 ms", "max": "300000 ms", "jitter": 0.2}', 'with the policy');
select is((select cardinality(pg_temp.got())), 1, 'one each');
select core.emit('shop', 'order.made', '2', '{"dedupe_key": "k"}'), core.emit('shop', 'order.made', '2', '{"dedupe_key": "k"}');
select is(pg_temp.got(), '{"go:mail order.made exact 2"}', 'a duplicate fires nothing');
select core.emit('shop', 'order.made', '3', '{"broadcast": true}');
select is(cardinality(pg_temp.got()), 1, 'a broadcast fires once');
select core.emit('shop', 'order.made', '4', '{"delay": "1 hour"}');
select is(pg_temp.got(), '{}', 'what is delayed waits');
select is((select array_agg(event_type order by event_type) from core.delayed where queue_name ~ 'trigger'), '{go:mail}', 'with its delivery');
select core.append_event_log('shop', 'order.made', '5', null);
select is(pg_temp.got(), '{}', 'what is appended to the log alone fires nothing');
select core.emit_batch('shop', array['order.made', 'other', 'order.made'], array['1', '2', '3']::jsonb[]);
select is(pg_temp.got(), '{"go:mail order.made exact 1","go:mail order.made exact 3"}', 'a batch');
select core.emit_batch('shop', array['order.made', 'order.made', 'order.made'], array['1', '2', '3']::jsonb[], array[null, '{"delay": "1 hour"}', '{"depth": 9}']::jsonb[]);
select is(pg_temp.got(), '{"go:mail order.made exact 1"}', 'with options');
select is((select count(*)::int from core.delayed where queue_name ~ 'trigger'), 2, 'as a single emit');
select is((select (why, deliveries, event_type)::text from core.trigger_drops), '(depth,1,order.made)', 'and what lies too deep is noted');
select core.emit('shop', 'order.made', '1', '{"depth": 9}');
select is((pg_temp.got(), (select count(*) from core.trigger_drops))::text, '({},2)', 'also of a single one');
select core.schedule_event('shop', 'order.made', '6', core_private.now() + interval '1 minute');
select core_private.emit_many('shop', '{order.made}', array['6']::jsonb[], array['{}']::jsonb[], core_private.now());
select is(pg_temp.got(), '{"go:mail order.made exact 6"}', 'what was scheduled');
select core.run_task_now(core.schedule_task('shop', 'nightly', '0 4 * * *', 'order.made', '7'));
select is(pg_temp.got(), '{"go:mail order.made exact 7"}', 'a task');
-- filters in a batch
select core.enable_trigger('shop', 'german');
select core.emit_batch('shop', array['order.made', 'order.made'], array['{"country": "DE", "lines": [{"sku": 7}]}', '{"country": "DE", "lines": [{"sku": 8}]}']::jsonb[]);
select is(array_length(array_positions(array(select split_part(g, ' ', 3) from unnest(pg_temp.got()) g), 'german'), 1), 1, 'filters hold in a batch');
select core.disable_trigger('shop', 'german');
select isnt(pg_temp.t('nested', 'nest', '{"a": {"b": 1}}'), null, 'a filter without a scalar at its top');
select core.emit('shop', 'nest', p::jsonb) from unnest(array['{"a": {"b": 2}}', '{"a": {"b": 1}, "c": 2}']) p;
select is(cardinality(pg_temp.got()), 1, 'holds as well');
-- consumers of their own
select isnt(pg_temp.t('slow', 'slow.*', p_options => '{"consumer": "slow"}'), null, 'a consumer of its own');
select isnt(pg_temp.t('also', 'slow.*'), null, 'beside one of the others');
select core.emit('shop', 'slow.one'), core.emit_batch('shop', '{slow.two}', array['1']::jsonb[]);
select is(array[cardinality(pg_temp.got()), cardinality(pg_temp.got('slow'))], '{2,2}', 'each has its own');
-- rolled back
do $$ begin perform core.emit('shop', 'order.made'); raise 'no'; exception when others then null; end $$;
select is(pg_temp.got(), '{}', 'what is rolled back leaves nothing');
-- what would happen
set session authorization t_app; set search_path = tap, pg_catalog;
select is((select array_agg(name || ': ' || coalesce(why, '-') order by name) from core.test_triggers('shop', 'order.made')), '{"all: disabled","also: pattern","colon: disabled","exact: no live node handles the target","german: disabled","nested: pattern","slow: pattern"}', 'what would fire, and why not');
select is((select why from core.test_triggers('shop', 'order.made', '{}', 9) where name = 'exact'), 'depth', 'by depth');
select throws_ok($$select core.test_triggers('shop', 'a b')$$, 'NX002', null, 'of a type'), throws_ok($$select core.test_triggers('shop', 'a', null)$$, 'NX006', null, 'of a payload');
reset session authorization;
-- claims: principals and deleted triggers
set session authorization t_gone; set search_path = tap, pg_catalog;
select isnt(core.create_trigger('shop', 'gone', '{"event": {"pattern": "gone"}}', 'go:mail'), null, 'by somebody who is revoked then');
reset session authorization;
revoke nexus_consumer from t_gone;
select is((select principal_ok from core.trigger_status where name = 'gone'), false, 'the status says so');
select is((select why from core.test_triggers('shop', 'gone') where name = 'gone'), 'principal_revoked', 'so does a test');
select core.emit('shop', 'gone'), core.emit('shop', 'order.made', '"good"');
select is((select array_agg(outcome || coalesce(' ' || (message ->> 'trigger'), '') order by outcome, msg_id) from core_node.claim('core_events_shop__triggers', '{go:mail}', '{0}', 10, '30 s') where outcome <> 'window'), '{buried,"claimed exact"}', 'its deliveries are dead letters, and others go on');
select is((select (reason, event_type)::text from core.dead_letters), '(principal_revoked,gone)', 'with the reason');
select core.emit('shop', 'gone');
select is((select array_agg(outcome order by outcome) from core_node.claim_batch('core_events_shop__triggers', '{go:mail}', '{0}', 10, p_lease => '30 s') where outcome in ('claimed', 'buried')), '{buried}', 'in a batch, too');
delete from pgmq.q_core_events_shop__triggers;
select core.emit('shop', 'order.made', '"late"');
create table left_behind as select * from pgmq.q_core_events_shop__triggers;
select is(core.delete_trigger('shop', 'exact'), 3::bigint, 'its deliveries go with a trigger, also those that wait');
insert into pgmq.q_core_events_shop__triggers overriding system value select * from left_behind;
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop__triggers', '{go:mail}', '{0}', 10, '30 s')), '{window}', 'what comes later is dropped');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 0, 'and gone');
select is((select (why, deliveries, event_type)::text from core.trigger_drops order by drop_id desc limit 1), '(deleted,1,order.made)', 'and noted');
-- retries: the policy of the delivery is above all others
select isnt(pg_temp.t('once', 'once', p_options => '{"retry": {"max_attempts": 1}}'), null, 'one attempt');
select core.emit('shop', 'once');
select is((select s.outcome from core_node.claim('core_events_shop__triggers', '{*}', '{9}', 10, '30 s') c
   cross join lateral core_node.settle('core_events_shop__triggers', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', 'retry', 'reason', 'error', 'error', 'no', 'policy', '{"max_attempts": 9}'::jsonb))) s where c.outcome = 'claimed'), 'buried', 'its attempts are those of its trigger');
select isnt(core.replay_dead_letter((select max(dead_letter_id) from core.dead_letters)), null, 'a replay');
select is((select headers #>> '{nexus-retry,max_attempts}' from pgmq.q_core_events_shop__triggers), '1', 'has the policy again');
select is(core_private.attempts_used_up(1, '{"nexus-retry": {"max_attempts": 1}}', 'a', '{a}', '{9}', 9), true, 'also where its process died');
select is(core_private.header_policy(h), '{}', h::text || ' is no policy') from unnest(array['{"nexus-retry": 7}', '{"nexus-retry": {"max_attempts": 0}}', '{"nexus-retry": {"base": "x"}}', '{"nexus-retry": null}', '[]', '7']::jsonb[]) h;
select is(core_private.filter_key('{"b": {"x": 1}, "c": 17.00}'), 'c=17', 'a number is one however it is written');
select is(core_private.patterns_of('a.b:c'), '{*,a.b:c,>,a.*,a.b:*}', 'the patterns of a type, and the mark of those that are too many');
