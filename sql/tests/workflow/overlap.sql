-- S9: a slot is under way until the run that a trigger started for it has ended, whatever it goes on as, and has undone what it did.
-- holds: S9 (runs of workflows), start-by-trigger
select core.create_namespace('shop'), core.create_namespace('other');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
create function pg_temp.at(p_time text) returns int language plpgsql as $$ begin
  update nexus_test.clock set frozen = ('2026-12-01 12:' || p_time || 'Z')::timestamptz; return core_private.fire_tasks(100); end $$;
create function pg_temp.ledger(p_name text) returns text language sql as $$
  select string_agg(to_char(s.slot at time zone 'UTC', 'MI') || ' ' || s.status, ', ' order by s.slot) from core.task_slots s join core.scheduled_tasks t using (task_id) where t.name = 'trigger/' || p_name $$;
select core_node.register_node('shop', 'n', true, '{x}', '{}', '{default}');
create temporary table d as select core_node.register_workflow('shop', 'report', 1, '[{"name": "a", "kind": "step", "undo": "go"}, {"name": "b", "kind": "step"}]') as def;
select core.create_trigger('shop', p, jsonb_build_object('cron', jsonb_build_object('cron_expression', '* * * * *', 'overlap', p, 'payload', to_jsonb(p))), 'workflow:report') from unnest('{allow,skip,queue_one}'::text[]) p;
create temporary table c as select run_id, epoch, token, pos, input #>> '{}' as p, undo_key from core_node.claim_runs('shop', array(select def from d), 'n', 100, '1 h');
create function pg_temp.claim() returns text language sql as $$
  delete from c; insert into c select run_id, epoch, token, pos, input #>> '{}', undo_key from core_node.claim_runs('shop', array(select def from d), 'n', 100, '1 h');
  select coalesce(string_agg(p || coalesce('~' || undo_key, ''), ' ' order by p), 'none') from c $$;
create function pg_temp.commit(p_name text, p_key text, p_op text) returns text language sql as $$
  select n.outcome from c, core_node.commit_steps(array[run_id], '{""}', array[epoch], array[token], array[pos], '{1}', array[p_key], '{"{0}"}', '{1}', array['{"kind": "go"}'], array[p_op], array['"skip"']) n where p = p_name $$;
create function pg_temp.start() returns int language sql as $$ select started from core_node.start_runs('shop', 'n') $$;
select is(pg_temp.at('01:05'), 3, 'each fires');
select is(pg_temp.start(), 3, 'and starts a run');
select is((select count(*)::int from core_private.workflow_runs r join core.scheduled_tasks t on t.task_id = r.scheduled_task_id and t.name = 'trigger/' || (r.input #>> '{}')), 3, 'which is known as of its task');
select is(pg_temp.at('02:05'), 1, 'the runs go on: only the one that may overlap fires');
select is(pg_temp.ledger('allow') || '; ' || pg_temp.ledger('skip') || '; ' || pg_temp.ledger('queue_one'), '01 fired, 02 fired; 01 fired, 02 skipped; 01 fired, 02 waiting', 'one is skipped, one waits');
select is(pg_temp.start(), 1, 'beside the other');
-- a run that goes on as another one
select is(pg_temp.claim(), 'allow allow queue_one skip', 'nodes have them');
select is(pg_temp.commit('skip', 'a', 'again'), 'ok', 'goes on as a new run');
select is(pg_temp.at('03:05'), 1, 'which is under way');
select is((select count(*)::int from core.workflow_runs w join core.scheduled_tasks t on t.task_id = w.scheduled_task_id where t.name = 'trigger/skip'), 2, 'as one of the task');
-- one that is undone
select is(pg_temp.claim(), 'skip', 'the new one');
select is(pg_temp.commit('skip', 'a', 'yield'), 'ok', 'does something');
select is((select core.cancel_workflow(run_id) from c), 'cancelled', 'is cancelled');
select is(pg_temp.claim(), 'skip~a', 'and to undo that');
select is(pg_temp.at('04:05'), 1, 'which is under way until it has');
select is((select outcome from c, core_node.undo_step(run_id, epoch, token, 'a', 'done')), 'ended', 'undone');
select is(pg_temp.at('05:05'), 2, 'then the next slot fires');
select is(pg_temp.ledger('skip'), '01 fired, 02 skipped, 03 skipped, 04 skipped, 05 fired', 'those between are skipped');
select pg_temp.start();
-- one that waits
select is(pg_temp.at('05:30'), 0, 'the one that waits waits for the end of the run');
update core_private.workflow_cursors set token = null;
select core.cancel_workflow(run_id, false) from core.workflow_runs where input = '"queue_one"';
select is(pg_temp.at('05:40'), 1, 'and fires when it is there');
select is((select slot from core.event_log order by event_id desc limit 1), '2026-12-01 12:02Z', 'with its slot');
-- a run that somebody asked for
select core.cancel_workflow(run_id, false) from core.workflow_runs where input = '"skip"' and finished_at is null;
select core.run_task_now('shop', 'trigger/skip');
select is(pg_temp.start(), 2, 'what waited, and what somebody asked for');
select is(pg_temp.at('06:05'), 1, 'are under way');
select pg_temp.start();
-- a trigger of the task's event, before any node has started its run, and after
select core.create_trigger('shop', 'due', '{"event": {"pattern": "report.due"}}', 'workflow:report'), core.schedule_task('shop', 'due', '* * * * *', 'report.due', '"due"', '{"overlap": "skip"}');
delete from core.scheduled_tasks where name <> 'due';
select pg_temp.at('07:05'); delete from pgmq.q_core_events_shop;
select is(pg_temp.at('08:05'), 0, 'a delivery of a trigger is under way');
select is(pg_temp.start(), 1, 'which starts a run');
select is(pg_temp.at('09:05'), 0, 'that goes on');
update core_private.workflow_cursors set token = null;
select core.cancel_workflow(run_id, false) from core.workflow_runs where input = '"due"';
select is(pg_temp.at('10:05'), 1, 'until it has ended');
-- what says that it is of a task of others
select pgmq.send('core_events_shop__triggers', jsonb_build_object('eventType', 'workflow:report', 'payload', 7, 'eventUid', gen_random_uuid(), 'scheduledTaskId', t)) from core.schedule_task('other', 't', '* * * * *', 't') t;
select pg_temp.start();
select is((select scheduled_task_id from core_private.workflow_runs where input = '7'), null, 'is not');
