-- Runs as steps of runs: begun with the step, answered once, cancelled along; and runs that go on as new ones.
-- holds: W9, others-children
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create temporary table d as select core_node.register_workflow('shop', n, 1, '[{"name": "k", "kind": "child", "workflow": "kid"}, {"name": "b", "kind": "step"}]') as def, n from unnest('{top,kid}'::text[]) n;
create temporary table c as select k.*, null::text as workflow, null::jsonb as results, null::jsonb as pending from core_private.workflow_cursors k;
create function pg_temp.claim() returns text language sql as $$
  delete from c where (run_id, path) in (select run_id, path from c);
  insert into c (run_id, path, epoch, token, pos, attempt, workflow, results, pending)
  select run_id, path, epoch, token, pos, attempt, workflow, results, pending from core_node.claim_runs('shop', array(select def from d), 'n1', 100, '30 s');
  select coalesce(string_agg(format('%s:%s:%s', workflow, pos, attempt), ' ' order by workflow), 'none') from c $$;
create function pg_temp.child() returns text language sql as $$
  select s.outcome from c, core_node.start_child(c.run_id, c.path, c.epoch, c.token, c.pos, 1, 'k', '{1}', 'kid', '{"n": 1}') s where c.workflow = 'top' $$;
create function pg_temp.commit(p_workflow text, p_key text, p_op text, p_output text = null) returns text language sql as $$
  select n.outcome from c, core_node.commit_steps(array[c.run_id], array[c.path], array[c.epoch], array[c.token], array[c.pos], '{1}', array[p_key], '{"{2}"}', '{1}', '{null}', array[p_op], array[p_output]) n where c.workflow = p_workflow $$;
create function pg_temp.fail(p_workflow text, p_key text, p_action text) returns text language sql as $$
  select f.outcome from c, core_node.fail_step(c.run_id, c.path, c.epoch, c.token, c.pos, 1, p_key, '{1}', p_action, null, null, 'bad', 'very') f where c.workflow = p_workflow $$;
create temporary table r as select run_id from core.start_workflow('shop', 'top', '{}', '{"correlation_id": "c1"}');
select is(pg_temp.claim(), 'top:0:0', 'the parent');
select throws_ok($$select core_node.start_child(run_id, path, epoch, token, pos, 1, 'k', '{1}', 'nope') from c$$, 'NX116', null, 'no such workflow');
select is(pg_temp.child(), 'waits', 'begins a child');
select is((select row(w.depth, w.correlation_id, w.input)::text from core_private.workflow_runs w where workflow = 'kid'), '(1,c1,"{""n"": 1}")', 'which knows where it is from');
select is((select entered from core_private.workflow_cursors where path = '' and state = 'W'), 1, 'the step has been begun');
select is(pg_temp.claim(), 'kid:0:0', 'and is due');
select is(pg_temp.fail('kid', 'x', 'reject'), 'failed', 'it fails');
select is(pg_temp.claim(), 'top:0:0', 'the parent is told');
select is((select pending #>> '{k,child_failed,error,reason}' from c), 'bad', 'why');
select is(pg_temp.fail('top', 'k', 'retry'), 'retried', 'tries again');
select pg_temp.later('1 s');
select is(pg_temp.claim(), 'top:0:1', 'its second attempt');
select is((select pending -> 'k' from c), '{}', 'knows nothing of the first');
select is(pg_temp.child(), 'waits', 'has a child of its own');
select is((select count(*) from core_private.workflow_runs where workflow = 'kid'), 2::bigint, 'the second');
select pg_temp.claim();
-- The child goes on as a new run, which answers in its place.
select is((select core.signal_workflow(run_id, 'early') from c where workflow = 'kid'), 'stored', 'a signal that nobody waits for yet');
select is(core_private.route_signals('shop', 10, core_private.now()), 0, 'and of which claims know that');
update core_private.workflow_runs set timeout_at = core_private.now() + interval '1 h', tags = '{vip}' where run_id = (select run_id from c where workflow = 'kid');
insert into d select core_node.register_workflow('shop', 'kid', 2, '[{"name": "k", "kind": "child", "workflow": "kid"}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]'), 'kid';
select pg_temp.later('1 min');
select is(pg_temp.commit('kid', null, 'again', '{"n": 2}'), 'ok', 'goes on as new');
select is((select row(w.version, w.tags, w.timeout_at - w.created_at)::text from core.workflow_runs w where continued_from is not null), '(2,{vip},00:59:00)', 'by the newest code, with its tags and what is left of its time');
select is(pg_temp.commit('kid', null, 'again', '{"n": 2}'), 'already', 'once');
select is(pg_temp.claim(), 'kid:0:0', 'the new one is due');
select is((select string_agg(s.name || s.routed, ' ') from core_private.workflow_signals s join c using (run_id) where s.consumed_at is null), 'earlytrue', 'and has what nobody has taken');
insert into core_private.workflow_signals (namespace, run_id, name, sent_at, sent_by) select 'shop', run_id, 'late', core_private.now(), 'x' from core_private.workflow_runs where continued_as is not null;
select core_private.route_signals('shop', 10, core_private.now());
select is((select count(*) from core_private.workflow_signals s join c using (run_id) where s.name = 'late'), 1::bigint, 'and what came for the old one when it had just ended');
select is((select s from core_private.workflow_runs o, core.signal_workflow(o.run_id, 'go') s where o.continued_as is not null), 'stored', 'a signal for the old one');
select is((select count(*) from core_private.workflow_signals s join c using (run_id) where s.name = 'go'), 1::bigint, 'is the new one''s');
select is(pg_temp.commit('kid', 'b', 'end', '"done"'), 'ok', 'and ends');
select is(pg_temp.claim(), 'top:1:0', 'the parent goes on');
select is((select results -> 'k' from c), '"done"', 'with its result');
select is((select string_agg(format('%s %s %s %s', workflow, depth, key, status), ', ') from r, core.workflow_tree(run_id)), 'top 0  running, top 1 k completed, kid 2  failed, kid 3 x failed, kid 2  completed, kid 2  completed, kid 3 b completed', 'the tree');
-- Cancelled along.
create temporary table r2 as select run_id from core.start_workflow('shop', 'top');
select pg_temp.commit('top', 'b', 'end');
select is(pg_temp.claim(), 'top:0:0', 'another parent');
select pg_temp.child();
select is((select core.cancel_workflow(run_id) from r2), 'cancelled', 'cancelled');
select is((select string_agg(status, ' ') from core_private.workflow_runs where finished_at is null or status = 'cancelled'), 'cancelled cancelled', 'with its child');
select is((select core.cancel_workflow(run_id) from r2), 'already_finished', 'once');
-- A child that ended is gone by its retention before anybody took up its parent: its end is in the parent's inbox.
select is(pg_temp.claim(), 'none', 'nothing is due');
create temporary table r3 as select run_id from core.start_workflow('shop', 'top');
select pg_temp.claim(), pg_temp.child(), pg_temp.claim();
select is(pg_temp.commit('kid', 'b', 'end', '"late"'), 'ok', 'a child ends');
select pg_temp.later('31 days');
select is(core_private.remove_runs(100, clock_timestamp() + '1 min'), 7, 'it is removed, with all that has ended');
select is((select string_agg(workflow, ' ') from core_private.workflow_runs), 'top', 'and its parent is not');
select is(pg_temp.claim(), 'top:1:0', 'which goes on');
select is((select results -> 'k' from c), '"late"', 'with its result');
select is((select string_agg(key, ' ') from r3, core.workflow_tree(run_id)), 'k', 'and is shown without it');
-- A step whose child has failed is retried with that child, which goes on from where it failed.
create temporary table r4 as select run_id from core.start_workflow('shop', 'top');
create function pg_temp.kids() returns text language sql as $$ select string_agg(concat_ws(':', w.parent_attempt, w.status, (select string_agg(concat(j.key, j.status), '' order by j.key) from core_private.workflow_journal j where j.run_id = w.run_id)), ' ' order by w.parent_attempt) from core_private.workflow_runs w join r4 on w.parent_run_id = r4.run_id $$;
create function pg_temp.retry() returns boolean language sql as $$ select core.retry_workflow(run_id) from r4 $$;
select pg_temp.claim(), pg_temp.child(), pg_temp.claim(), pg_temp.commit('kid', 'a', 'next');
update c set pos = 1;
select is(pg_temp.fail('kid', 'x', 'reject') || pg_temp.claim(), 'failedtop:0:0', 'a child fails at its second step');
select is(pg_temp.fail('top', 'k', 'reject'), 'failed', 'and its parent with it');
select throws_ok(format('select core.retry_workflow(%L)', w.run_id), 'NX006', format('run %s is a child, and its failure is that of step k of run %s', w.run_id, r4.run_id), 'which is not retried by itself') from core_private.workflow_runs w join r4 on w.parent_run_id = r4.run_id;
select is(pg_temp.retry(), true, 'but with its parent');
select is(pg_temp.kids(), '0:failed:acxf', 'once that comes to its step, which it may not');
select is(pg_temp.claim(), 'top:1:0', 'alone');
select is(pg_temp.child() || ' ' || pg_temp.kids(), 'waits 0:open:ac', 'then it goes on with what it has done');
select is(pg_temp.claim(), 'kid:1:0', 'and nothing else');
select is(pg_temp.commit('kid', 'x', 'end', '"mended"'), 'ok', 'it ends');
select is(pg_temp.claim(), 'top:2:0', 'and is heard of');
select is((select results -> 'k' from c), '"mended"', 'by its result');
select is(pg_temp.kids(), '0:completed:acxc', 'there is no second one');
-- Where it fails again its step is retried by its policy with another one, as ever.
delete from core_private.workflow_cursors; update r4 set run_id = (select run_id from core.start_workflow('shop', 'top'));
select pg_temp.claim(), pg_temp.child(), pg_temp.claim(), pg_temp.fail('kid', 'x', 'reject'), pg_temp.claim(), pg_temp.fail('top', 'k', 'reject');
select is(pg_temp.retry()::text || pg_temp.claim() || pg_temp.child() || pg_temp.claim(), 'truetop:1:0waitskid:0:0', 'a second time');
select is(pg_temp.fail('kid', 'x', 'reject') || pg_temp.claim(), 'failedtop:1:0', 'it fails again');
select is(pg_temp.fail('top', 'k', 'retry'), 'retried', 'and its step tries again');
select pg_temp.later('1 s'), pg_temp.claim();
select is(pg_temp.child() || ' ' || pg_temp.kids(), 'waits 0:failed:xf 1:open', 'with another child');
-- What was undone, or has no time left, does not go on: there is another one.
select pg_temp.claim(), pg_temp.fail('kid', 'x', 'reject'), pg_temp.claim(), pg_temp.fail('top', 'k', 'reject');
insert into core_private.workflow_journal (run_id, key, ord, status) select w.run_id, 'a~undo', '{1}', 'c' from core_private.workflow_runs w join r4 on w.parent_run_id = r4.run_id where w.parent_attempt = 1;
select is(pg_temp.retry()::text || pg_temp.claim(), 'truetop:1:0', 'a child that was undone stays');
select is(pg_temp.child() || ' ' || pg_temp.kids(), 'waits 0:failed:xf 1:failed:a~undocxf 2:open', 'a third one');
select pg_temp.claim(), pg_temp.fail('kid', 'x', 'reject'), pg_temp.claim(), pg_temp.fail('top', 'k', 'reject');
update core_private.workflow_runs w set timeout_at = finished_at from r4 where w.parent_run_id = r4.run_id;
select is(pg_temp.retry()::text || pg_temp.claim(), 'truetop:1:0', 'as does one without time');
select is(pg_temp.child() || ' ' || right(pg_temp.kids(), 6), 'waits 3:open', 'a fourth one');
-- A workflow that begins itself has an end.
create temporary table r5 as select run_id from core.start_workflow('shop', 'top');
delete from core_private.workflow_cursors where run_id <> (select run_id from r5);
select pg_temp.claim();
update core_private.workflow_runs set depth = 100;
select throws_ok('select pg_temp.child()', 'NX019', null, 'a hundred deep');
-- Who went on as new ones is known by the first id, and by its key, until the last is removed; those between are not kept.
delete from core_private.workflow_cursors; delete from core_private.workflow_runs;
update d set def = core_node.register_workflow('shop', 'solo', 1, '[{"name": "b", "kind": "step"}]'), n = 'solo' where n = 'top';
create temporary table r6 as select run_id from core.start_workflow('shop', 'solo', '{}', '{"idempotency_key": "one"}');
select pg_temp.claim(), pg_temp.commit('solo', null, 'again', '1') from generate_series(1, 3);
select pg_temp.later('31 days');
select is(core_private.remove_runs(1, clock_timestamp() + '1 min'), 2, 'those between are removed');
select is((select array_agg(s.run_id = r6.run_id and not s.started)::text from r6, core.start_workflow('shop', 'solo', '{}', '{"idempotency_key": "one"}') s), '{t}', 'the key begins no second run');
select is((select core.signal_workflow(run_id, 'go') || ' ' || (core.workflow_outcome(run_id)).status from r6), 'stored open', 'and the first id leads to the last');
select pg_temp.claim(), pg_temp.commit('solo', 'b', 'end', '1');
select pg_temp.later('31 days');
select is(core_private.remove_runs(1, clock_timestamp() + '1 min'), 2, 'with which it goes');
select is((select count(*) from core_private.workflow_runs where workflow = 'solo'), 0::bigint, 'so that nothing is left');
