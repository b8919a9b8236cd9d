-- holds: L4-rate
select core.create_namespace('shop');
select core.emit_batch('shop', '{a.x,a.y,a.x,a.x}', '{1,2,3,4}');
select core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2,3,4}', '{1,1,1,1}', '{one,two,one,one}', '{e,e,e,e}');
update core.dead_letters set consumer = 'gone' where dead_letter_id = 2;
select is((select string_agg(concat_ws(' ', event_type, reason, count, not_replayable, (select string_agg(f ->> 'dead_letter_id', '') from jsonb_array_elements(first_rows) f)), '; ' order by event_type)
             from core.preview_dead_letters('{"namespace": "shop"}', 2)), 'a.x one 3 13; a.y two 1 consumer ''gone'' is gone 2', 'counts by type and reason, and the first rows');
select is((select sum(count)::int from core.preview_dead_letters('{"type": "a.*", "limit": 2}')), 2, 'within the limit');
select is((select count(*)::int from core.preview_dead_letters('{"type": "b"}')), 0, 'nothing matches');
select throws_ok($$select core.preview_dead_letters('{}')$$, 'NX009', null, 'the same filter');
select throws_ok($$select core.preview_dead_letters('{"type": "*"}', -1)$$, 'NX006', null, 'rows');
-- the dry run says the same and leaves all
select is((select (matched, done, skipped, last_id)::text from core.replay_dead_letters('{"namespace": "shop"}', '{"dry_run": true}')), '(4,3,1,4)', 'a dry run does it');
select is((select skips from core.replay_dead_letters('{"namespace": "shop"}', '{"dry_run": true}')), '[{"ids": [2], "why": "consumer ''gone'' is gone", "count": 1}]', 'and says what is skipped and why');
select is((select count(*)::int from core.unresolved_dead_letters) + (select count(*)::int from pgmq.q_core_events_shop_dlq) + (select count(*)::int from core.audit_log where action <> 'by hand'), 8, 'and undoes it');
-- batches go on behind each other, past what is skipped
select is((select (matched, done, skipped, last_id)::text from core.replay_dead_letters('{"namespace": "shop", "limit": 2}')), '(2,1,1,2)', 'a batch');
select is((select (matched, done, skipped, last_id)::text from core.replay_dead_letters('{"namespace": "shop", "limit": 2, "after_id": 2}')), '(2,2,0,4)', 'the next one');
select is((select (matched, done, skipped, last_id)::text from core.replay_dead_letters('{"namespace": "shop", "limit": 2, "after_id": 4}')), '(0,0,0,)', 'the end');
select throws_ok($$select core.replay_dead_letters('{"namespace": "shop", "after_id": "x"}')$$, 'NX009', null, 'after_id');
select throws_ok($$select core.replay_dead_letters('{"after_id": 3}')$$, 'NX009', null, 'after_id picks nothing');
select is((select string_agg((details ->> 'done'), ' ' order by audit_id) from core.audit_log where action = 'replay_dead_letters'), '1 2', 'who replayed is kept');
-- a scheduled event that failed can be replayed as long as it is there
select core.alter_namespace('shop', '{"retry": {"max_attempts": 1}}');
create temporary table s as select core.schedule_event('shop', 'later', '{}', core.now() + interval '1 min') as id;
select core_private.fail_scheduled_event('shop', (select id from s), 'no', core.now());
select is((select concat_ws(' ', source_kind, count, not_replayable) from core.preview_dead_letters('{"namespace": "shop", "type": "later"}')), 'task 1', 'what can be replayed is not refused beforehand');
select is((select (matched, done, skipped)::text from core.replay_dead_letters('{"namespace": "shop", "type": "later"}', '{"dry_run": true}')), '(1,1,0)', 'as the dry run says');
delete from core.scheduled_events;
select is((select not_replayable from core.preview_dead_letters('{"namespace": "shop", "type": "later"}')), 'its source is gone', 'and not once it is gone');
