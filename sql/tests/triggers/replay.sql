-- T12: what a trigger delivered and was given up is known by trigger and event, and replayed to what the trigger has as target now
-- holds: T12
select core.create_namespace('shop');
create function pg_temp.t(p_name text, p_target text, p_options jsonb = '{}') returns uuid language sql as $$
  select core.create_trigger('shop', p_name, '{"event": {"pattern": "a.made"}}', p_target, p_options) $$;
create function pg_temp.fail(p_consumer text = 'triggers') returns text language plpgsql as $$
declare v jsonb; v_queue text := 'core_events_shop__' || p_consumer; begin
  select jsonb_agg(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', 'reject', 'error', 'broken')) into v
    from core_node.claim(v_queue, '{*}', '{0}', 100, '30 s') c where c.outcome = 'claimed';
  return (select string_agg(s.outcome, ' ') from core_node.settle(v_queue, 'n', '{}', '{}', '{}', v) s); end $$;
create function pg_temp.last(p text) returns text language plpgsql as $$
declare v text; begin execute format('select (%s)::text from core.dead_letters l order by dead_letter_id desc limit 1', p) into v; return v; end $$;
select pg_temp.t('mail', 'go:mail'), pg_temp.t('post', 'go:post', '{"consumer": "slow"}');
select core.emit('shop', 'a.made', '{"n": 1}', '{"headers": {"a": "b"}}');
select is(pg_temp.fail(), 'buried', 'a delivery of a trigger is given up');
select is(pg_temp.last('source_kind'), 'trigger', 'as such'), is(pg_temp.last('round'), '0', 'first');
select is(pg_temp.last('source_ref')::jsonb, (select jsonb_build_object('triggerId', t.trigger_id, 'eventUid', e.event_uid) from core.triggers t, core.event_log e where t.name = 'mail'), 'known by trigger and event');
select is((select (outcome, detail ~ 'dead letter')::text from core.cancel_deliveries('shop', array[(select event_id from core.event_log)], 'x', 'triggers')), '(dead,t)', 'no delivery is left to cancel');
select is((select outcome from core_private.why_unsettled('core_events_shop__triggers', array[l.msg_id], array[1], array[l.last_attempt_at])), 'buried', 'who asks again hears the same') from core.dead_letters l;

-- to the target, the consumer and the policy of now
select pg_temp.t('mail', 'go:letter', '{"replace": true, "consumer": "other", "retry": {"max_attempts": 7}}');
select is(core_private.why_not_replayed('trigger', 'shop', 'triggers', array[(select dead_letter_id from core.dead_letters)]), null, 'nothing is in the way');
select isnt(core.replay_dead_letter((select dead_letter_id from core.dead_letters), '{"n": 2}'), null, 'a replay');
select is((select count(*)::int from pgmq.q_core_events_shop__triggers), 0, 'goes no more where it was');
select is((select concat_ws(' ', message ->> 'eventType', message ->> 'sourceType', message ->> 'trigger', message -> 'payload', headers #> '{nexus-retry,max_attempts}', headers ->> 'a') from pgmq.q_core_events_shop__other), 'go:letter a.made mail {"n": 2} 7 b', 'but to the target of the trigger, edited');
select is((select message ->> 'triggerId' from pgmq.q_core_events_shop__other), (select trigger_id::text from core.triggers where name = 'mail'), 'under its id, so that the key of the handler is the same');
select is(pg_temp.fail('other'), 'buried', 'given up again'), is(pg_temp.last('(source_kind, round, replay_count, consumer)'), '(trigger,1,1,other)', 'it is the same source in its second round');

-- later ones too, and by filter
select is((select (matched, done)::text from core.replay_dead_letters('{"source": "trigger"}', '{"delay": "1 h"}')), '(1,1)', 'a filter takes them');
select is((select event_type from core.delayed), 'go:letter', 'what is due later waits under its target');
delete from core.delayed;

-- a trigger that is gone
select is(pg_temp.fail('slow'), 'buried', 'one of the other'), core.delete_trigger('shop', 'post');
select throws_ok(format('select core.replay_dead_letter(%s)', pg_temp.last('dead_letter_id')), 'NX207', null, 'has nowhere to go when its trigger is deleted');
select is((select not_replayable from core.preview_dead_letters('{"source": "trigger"}')), 'its trigger is gone, or makes no deliveries any more', 'as a preview says');
select is((select skips -> 0 ->> 'why' from core.replay_dead_letters('{"source": "trigger"}')), 'its trigger is gone, or makes no deliveries any more', 'and a replay of many');

-- what only says so
select pgmq.send('core_events_shop', jsonb_build_object('namespace', 'shop', 'eventType', 'x', 'payload', '1', 'eventUid', gen_random_uuid(), 'triggerId', gen_random_uuid()));
select core_private.bury('core_events_shop', 'n', array[max(msg_id)], '{0}', '{r}', '{e}') from pgmq.q_core_events_shop;
select is(pg_temp.last('source_kind'), 'delivery', 'what is on another queue is a delivery, whatever it says');
select pgmq.send('core_events_shop__other', jsonb_build_object('namespace', 'shop', 'eventType', 'go:x', 'sourceType', 'a', 'payload', '1', 'eventUid', gen_random_uuid(), 'triggerId', 'mail'));
select core_private.bury('core_events_shop__other', 'n', array[max(msg_id)], '{0}', '{r}', '{e}') from pgmq.q_core_events_shop__other;
select is(pg_temp.last('source_kind'), 'delivery', 'and what names no trigger');
