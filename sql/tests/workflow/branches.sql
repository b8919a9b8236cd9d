-- Branches, nested ones and items: begun, joined once, failed.
-- holds: W4, W8
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "s", "kind": "step", "undo": "go"},
  {"name": "par", "kind": "parallel", "steps": [{"name": "a", "kind": "step"}, {"name": "b", "kind": "sequence", "steps": [{"name": "b1", "kind": "parallel", "steps": [{"name": "x", "kind": "step"}, {"name": "y", "kind": "step"}]}]}]},
  {"name": "m", "kind": "map", "undo": "item"}]') as def;
create temporary table c as select k.*, null::jsonb as results, null::jsonb as pending, null::text as st, null::text as undo_key from core_private.workflow_cursors k;
create function pg_temp.claim(p_limit int = 100) returns text language sql as $$
  insert into c (run_id, path, def_id, epoch, token, pos, attempt, deaths, results, pending, st, undo_key)
  select run_id, path, def_id, epoch, token, pos, attempt, deaths, results, pending, state, undo_key from core_node.claim_runs('shop', array(select def from d), 'n1', p_limit, '30 s');
  select coalesce(string_agg(distinct format('%s:%s', k.path, k.pos), ' '), 'none') from core_private.workflow_cursors k where k.token is not null $$;
create function pg_temp.held(p_path text) returns core_private.workflow_cursors language sql as $$ select k from core_private.workflow_cursors k where k.path = p_path and token is not null limit 1 $$;
create function pg_temp.step(p_path text, p_key text, p_ord int[], p_op text = 'next') returns text language sql as $$
  select n.outcome from pg_temp.held(p_path) h, core_node.commit_steps(array[h.run_id], array[h.path], array[h.epoch], array[h.token], array[h.pos], '{1}', array[p_key], array[p_ord::text], '{1}', '{"{\"kind\": \"go\"}"}', array[p_op], '{null}') n $$;
create function pg_temp.fan(p_path text, p_key text, p_ord int[], p_branches text[], p_items jsonb = null, p_max int = null) returns text language sql as $$
  select core_node.fan_out(h.run_id, h.path, h.epoch, h.token, h.pos, 2, p_key, p_ord, p_branches, p_items, p_max) from pg_temp.held(p_path) h $$;
create function pg_temp.over(p_path text, p_key text = null, p_ord int[] = null) returns text language sql as $$
  select e.outcome || coalesce(' ' || e.next_path, '') from pg_temp.held(p_path) h, core_node.end_branch(h.run_id, h.path, h.epoch, h.token, h.pos, p_key, p_ord, '1', '{"kind": "item"}') e $$;
create function pg_temp.fail(p_path text, p_key text, p_ord int[], p_action text = 'reject') returns text language sql as $$
  select f.outcome from pg_temp.held(p_path) h, core_node.fail_step(h.run_id, h.path, h.epoch, h.token, h.pos, 2, p_key, p_ord, p_action, null, null, 'bad', 'very') f $$;
create temporary table r as select run_id from core.start_workflow('shop', 'w');
select pg_temp.claim();
select is(pg_temp.step('', 's', '{1}'), 'ok', 'a step');
select is(pg_temp.fan('', 'par', '{2}', '{}'), 'go', 'no branches: nothing to wait for');
delete from core_private.workflow_journal where key = 'par'; update core_private.workflow_cursors set pos = 1;
select throws_ok($$select pg_temp.fan('', 'par', '{2}', '{a,a}')$$, 'NX006', null, 'a branch twice');
select is(pg_temp.fan('', 'par', '{2}', '{a,b}'), 'waits', 'two branches');
select is((select entered from core_private.workflow_cursors where path = ''), 2, 'in a step that has been begun');
select is(pg_temp.claim(), 'par/a:0 par/b:0', 'which are due');
select is((select distinct results::text from c where path <> ''), '{"s": 1}', 'and know the journal');
select is(pg_temp.fan('par/b', 'b1', '{2,2,1}', '{x,y}'), 'waits', 'one has branches');
select is(pg_temp.claim(), 'par/a:0 par/b/b1/x:0 par/b/b1/y:0', 'due too');
select is(pg_temp.over('par/a', 'a', '{2,1}'), 'ok', 'one ends');
select is(pg_temp.over('par/b/b1/x', 'x', '{2,2,1,1}'), 'ok', 'one of those in it');
select is((select e.outcome from r, core_node.end_branch(run_id, 'par/b/b1/x', 1, gen_random_uuid(), 0, 'x', '{2,2,1,1}') e), 'already', 'said again');
select is(pg_temp.over('par/b/b1/y', 'y', '{2,2,1,2}'), 'joined', 'and the last in it');
select is(pg_temp.claim(), 'par/b:1', 'have the outer one go on');
select is(pg_temp.over('par/b'), 'joined', 'which is the last');
select is(pg_temp.claim(), ':2', 'and have the run go on');
select is((select string_agg(format('%s %s', key, status), ', ' order by ord) from core_private.workflow_journal), 's c, par c, a c, b1 c, x c, y c', 'all is journaled');
-- Items.
select is(pg_temp.fan('', 'm', '{3}', null, '[10, 11, 12, 13, 14]', 2), 'waits', 'items, two at once');
delete from c;
select is(pg_temp.claim(), 'm/0:0 m/1:0', 'are due');
select is((select pending -> 'm' from c limit 1), '[10, 11, 12, 13, 14]', 'which are journaled');
select is(pg_temp.over('m/0', 'm#0', '{3,0}'), 'item m/2', 'the lease goes on with the next one');
update core_private.workflow_cursors set items = 100000 where items = 5;
set work_mem = '64kB';
set temp_file_limit = 0;
select is(pg_temp.over('m/2', 'm#2', '{3,2}'), 'item m/3', 'and the next, however many are left');
reset work_mem;
reset temp_file_limit;
update core_private.workflow_cursors set items = 5 where items = 100000;
select is(pg_temp.over('m/1', 'm#1', '{3,1}'), 'item m/4', 'the other one too');
select is(pg_temp.fail('m/4', 'm#4', '{3,4}'), 'failed', 'one is given up');
select is((select status from core_private.workflow_runs), 'open', 'the other one is waited for');
select is(pg_temp.over('m/3', 'm#3', '{3,3}'), 'ended', 'and then the run has failed');
select is((select row(status, error)::text from core_private.workflow_runs), '(compensating,"{""step"": ""m#4"", ""error"": ""very"", ""reason"": ""bad""}")', 'with its reason');
select is((select string_agg(key, ' ' order by key) from core_private.workflow_journal where status = 'f'), 'm m#4', 'the container has failed too');
-- Undone, the last first.
create function pg_temp.undo(p_key text, p_action text = 'done') returns text language sql as $$
  select u.outcome || coalesce(' ' || u.next_key, '') from pg_temp.held('') h, core_node.undo_step(h.run_id, h.epoch, h.token, p_key, p_action, null, '{"max_attempts": 2}', 'bad', 'undo') u $$;
delete from c;
select is(pg_temp.claim(), ':2', 'claimed');
select is((select st || ' ' || undo_key from c), 'undo m#3', 'to be undone');
select is((select core.cancel_workflow(run_id) from r), 'compensating', 'and not cancelled any more');
select is(pg_temp.undo('m#2'), 'lost', 'not another one');
select is((select u.outcome from pg_temp.held('') h, core_node.undo_step(h.run_id, h.epoch, gen_random_uuid(), 'm#3', 'done') u), 'lost', 'nor by who has lost it');
select is(pg_temp.undo('m#3'), 'next m#2', 'the last first');
select is(pg_temp.undo('m#2', 'retry'), 'retried', 'has retries of its own');
select pg_temp.later('1 s');
select pg_temp.claim();
select is(pg_temp.undo('m#2'), 'next m#1', 'done');
select is(pg_temp.undo('m#1', 'release'), 'released', 'given back');
select pg_temp.later('1 s');
select pg_temp.claim();
select is(pg_temp.undo('m#1'), 'next m#0', 'done');
select is(pg_temp.undo('m#0'), 'next y', 'what was in branches');
select is(pg_temp.undo('y'), 'next x', 'likewise');
select is(pg_temp.undo('x'), 'next a', 'likewise');
select is(pg_temp.undo('a'), 'next s', 'the first step');
select is(pg_temp.undo('s', 'reject'), 'stuck', 'cannot be undone');
select is((select row(status, error #>> '{compensation,step}')::text from core_private.workflow_runs), '(compensation_failed,s)', 'seen');
select is((select row(source_kind, event_type, payload ->> 'step', reason, last_error, attempts)::text from core.dead_letters), '(workflow_compensation,w,s,bad,undo,1)', 'a dead letter');
select is((select count(*) from core_private.workflow_cursors), 0::bigint, 'no cursor is left');
-- Unstarted branches are dropped.
create temporary table r2 as select run_id from core.start_workflow('shop', 'w');
select pg_temp.claim();
select is(pg_temp.fan('', 'par', '{2}', '{a,b}'), 'waits', 'two branches');
select pg_temp.claim(1);
select is((select string_agg(pg_temp.fail(k.path, 'q', '{2,1}'), '') from core_private.workflow_cursors k where token is not null), 'failed', 'one fails before the other one is begun');
select is((select row(w.status, w.error ->> 'step')::text from core_private.workflow_runs w join r2 using (run_id)), '(failed,q)', 'nothing was to be undone: failed at once');
-- Items begin in their order, which is not that of their names.
select core.start_workflow('shop', 'w');
select pg_temp.claim();
select is((select core_node.fan_out(k.run_id, '', k.epoch, k.token, k.pos, 3, 'm', '{3}', null, '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]', 3) from core_private.workflow_cursors k where k.path = '' and k.token is not null), 'waits', 'a dozen items');
select is((select string_agg(path, ' ' order by path) from core_private.workflow_cursors where path <> ''), 'm/0 m/1 m/2', 'the first three are begun');
select is((select next_item from core_private.workflow_cursors where path = ''), 3, 'and the fourth is next');
-- None begins after one has failed, and none that is done comes again when the run is retried.
create function pg_temp.item(p_n int) returns text language sql as $$
  select e.outcome || coalesce(' ' || e.next_path, '') from pg_temp.held('m/' || p_n) h, core_node.end_branch(h.run_id, h.path, h.epoch, h.token, h.pos, 'm#' || p_n, array[3, p_n], '1') e $$;
select pg_temp.claim();
select is(pg_temp.fail('m/0', 'm#0', '{3,0}'), 'failed', 'the first one fails');
select is(pg_temp.item(1), 'ok', 'no other is begun');
select is(pg_temp.item(2), 'ended', 'and the run has failed');
select is((select core.retry_workflow(run_id) from core_private.workflow_runs where error ->> 'step' = 'm#0'), true, 'retried');
select pg_temp.claim();
select is((select core_node.fan_out(k.run_id, '', k.epoch, k.token, k.pos, 3, 'm', '{3}', null, '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]', 1) from core_private.workflow_cursors k where k.path = '' and k.token is not null), 'waits', 'one at once');
select pg_temp.claim();
select is(pg_temp.item(0), 'item m/3', 'those that are done are passed over');
