-- What operators do: retry, accept, fork; what they may see; limits; retention.
-- holds: W4 (retry and accept), W12, W13
select core.create_namespace('shop', '{"workflow_retention": "10 days"}');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "s", "kind": "step"}, {"name": "m", "kind": "map"}, {"name": "u", "kind": "step", "undo": "go"}, {"name": "l", "kind": "step"}]', '{"concurrency": 2}') as def;
create temporary table r (n int, run_id uuid);
create function pg_temp.start(p_n int, p_options jsonb = '{}') returns void language sql as $$ insert into r select p_n, run_id from core.start_workflow('shop', 'w', '{"secret": 1}', p_options) $$;
create function pg_temp.claim(p_limit int = 100) returns bigint language sql as $$ select count(*) from core_node.claim_runs('shop', array(select def from d), 'n1', p_limit, '30 s') $$;
create function pg_temp.held(p_n int, p_path text = '') returns core_private.workflow_cursors language sql as $$ select k from core_private.workflow_cursors k join r using (run_id) where r.n = p_n and k.path = p_path $$;
create function pg_temp.step(p_n int, p_key text, p_ord int[], p_undo text = null, p_op text = 'next') returns text language sql as $$
  select n.outcome from pg_temp.held(p_n) h, core_node.commit_steps(array[h.run_id], '{""}', array[h.epoch], array[h.token], array[h.pos], array[p_ord[1]], array[p_key], array[p_ord::text], '{1}', array[p_undo], array[p_op], '{null}') n $$;
create function pg_temp.fail(p_n int, p_key text, p_ord int[], p_path text = '', p_undo jsonb = null) returns text language sql as $$
  select f.outcome from pg_temp.held(p_n, p_path) h, core_node.fail_step(h.run_id, h.path, h.epoch, h.token, h.pos, 2, p_key, p_ord, 'reject', null, null, 'bad', 'very', p_undo) f $$;
create function pg_temp.is(p_n int) returns text language sql as $$ select concat_ws(' ', w.status, (select string_agg(format('%s:%s:%s', c.path, c.state, c.entered), ',' order by c.path) from core_private.workflow_cursors c where c.run_id = w.run_id)) from core_private.workflow_runs w join r using (run_id) where r.n = p_n $$;
create function pg_temp.retry(p_n int) returns bool language sql as $$ select core.retry_workflow(run_id) from r where n = p_n $$;
-- A limit.
select pg_temp.start(1), pg_temp.start(2), pg_temp.start(3);
select is(pg_temp.claim(), 2::bigint, 'two of three, as the limit says');
select is(pg_temp.claim(), 0::bigint, 'and no more');
select core_node.release_runs(array_agg(run_id), array_agg(path), array_agg(epoch), array_agg(token)) from core_private.workflow_cursors where token is not null;
update core_private.workflow_definitions set concurrency = null;
delete from core_private.workflow_cursors where run_id in (select run_id from r where n > 1); update core_private.workflow_runs set status = 'completed', finished_at = core_private.now() where run_id in (select run_id from r where n > 1);
-- Failed where nothing was undone.
select pg_temp.claim();
select is(pg_temp.retry(1), false, 'nothing to go on with');
select pg_temp.step(1, 's', '{1}');
select core_node.fan_out(h.run_id, '', h.epoch, h.token, h.pos, 2, 'm', '{2}', null, '["x", "y", "z"]', 2) from pg_temp.held(1) h;
select pg_temp.claim();
select is((select e.outcome || e.next_path from pg_temp.held(1, 'm/0') h, core_node.end_branch(h.run_id, h.path, h.epoch, h.token, h.pos, 'm#0', '{2,0}', '1') e), 'itemm/2', 'an item is done');
select is(pg_temp.fail(1, 'm#2', '{2,2}', 'm/2'), 'failed', 'one has failed');
select is((select e.outcome from pg_temp.held(1, 'm/1') h, core_node.end_branch(h.run_id, h.path, h.epoch, h.token, h.pos, 'm#1', '{2,1}', '1') e), 'ended', 'so has the run');
select is(pg_temp.is(1), 'failed', 'failed');
select is(pg_temp.retry(1), true, 'goes on');
select is(pg_temp.is(1), 'open :R:2', 'in its second step');
select pg_temp.claim();
select is((select core_node.fan_out(h.run_id, '', h.epoch, h.token, h.pos, 2, 'm', '{2}', null, '["x", "y", "z"]', 2) from pg_temp.held(1) h), 'waits', 'branches again');
select is((select string_agg(path, ' ') from core_private.workflow_cursors where path <> ''), 'm/2', 'for the item that has failed alone');
select pg_temp.claim();
select is((select e.outcome from pg_temp.held(1, 'm/2') h, core_node.end_branch(h.run_id, h.path, h.epoch, h.token, h.pos, 'm#2', '{2,2}', '1') e), 'joined', 'which is the last');
-- What failed and may have happened is undone; what was undone is not gone on with.
select pg_temp.claim();
select is(pg_temp.step(1, 'u', '{3}', '{"kind": "go"}'), 'ok', 'a step that is undone');
select is(pg_temp.fail(1, 'l', '{4}', '', '{"kind": "go", "on_failure": true}'), 'failed', 'the last one fails');
select pg_temp.claim();
select is((select wait_key from pg_temp.held(1)), 'l', 'and is undone, as it may have happened');
create function pg_temp.undo(p_n int, p_action text) returns text language sql as $$ select u.outcome from pg_temp.held(p_n) h, core_node.undo_step(h.run_id, h.epoch, h.token, h.wait_key, p_action) u $$;
select is(pg_temp.undo(1, 'done'), 'next', 'undone');
select is(pg_temp.undo(1, 'reject'), 'stuck', 'the next one cannot be');
select is((select status || ' ' || (error ->> 'step') || ' ' || (error #>> '{compensation,step}') from core.workflow_runs join r using (run_id) where n = 1), 'compensation_failed l u', 'both reasons are there');
select is(pg_temp.retry(1), true, 'compensation goes on');
select is((select string_agg(resolution, ' ') from core.dead_letters), 'replayed', 'its dead letter is replayed');
select is(pg_temp.is(1), 'compensating :U:4', 'from where it stopped');
select pg_temp.claim();
select is((select wait_key from pg_temp.held(1)), 'u', 'the other one is not undone again');
select is(pg_temp.undo(1, 'reject'), 'stuck', 'fails again');
select is((select r.done from core.replay_dead_letters(jsonb_build_object('source', 'workflow_compensation')) r), 1, 'its dead letter can be replayed too');
select pg_temp.claim(); select pg_temp.undo(1, 'reject');
select is((select core.accept_workflow(run_id, 'refunded by hand') from r where n = 1), true, 'accepted');
select is((select core.accept_workflow(run_id, 'refunded by hand') from r where n = 1), false, 'once');
select is((select string_agg(resolution, ' ' order by dead_letter_id) from core.dead_letters), 'replayed replayed handled_by_handler', 'its dead letter is resolved');
select is(pg_temp.is(1), 'compensation_failed', 'the run stays what it is');
select is(pg_temp.retry(1), true, 'and can still be undone');
select pg_temp.claim();
select is(pg_temp.undo(1, 'done'), 'ended', 'at last');
select is(pg_temp.is(1), 'failed', 'failed');
select throws_ok('select pg_temp.retry(1)', 'NX227', null, 'what was undone is not gone on with');
-- Forks.
create function pg_temp.fork(p_step text) returns uuid language sql as $$ select core.fork_workflow(run_id, p_step) from r where n = 1 $$;
select throws_ok($$select pg_temp.fork('l')$$, 'NX227', null, 'no fork behind what was undone');
select throws_ok($$select pg_temp.fork('x')$$, 'NX117', null, 'nor from a step that is not there');
select throws_ok($$select pg_temp.fork('m#9')$$, 'NX117', null, 'nor from an item that there was not');
insert into r select 9, pg_temp.fork('u');
select is((select string_agg(format('%s %s', key, inherited), ', ' order by ord) from core.workflow_steps join r using (run_id) where n = 9), 's t, m t, m#0 t, m#1 t, m#2 t', 'a fork has the journal up to the step');
select is(pg_temp.is(9), 'open :R:2', 'and begins there');
update core_private.workflow_journal set undo = '{"kind": "go"}' where inherited;
select pg_temp.claim();
select is(pg_temp.fail(9, 'u', '{3}'), 'failed', 'it fails');
select is(pg_temp.is(9), 'failed', 'and undoes nothing that it inherited');
-- Sights.
create role t_reader in role nexus_reader;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
set local role t_reader;
select is((select count(*) from core.workflow_runs where input is not null) || ' ' || (select count(*) from core.workflow_runs), '0 4', 'who may only read sees no inputs');
select is((select count(*) from core.workflow_steps where result is not null) || ' ' || (select count(*) from core.workflow_steps where status = 'completed') , '0 13', 'nor results');
reset role;
select is((select count(*) from core.workflow_runs where input is null), 0::bigint, 'who may operate does');
-- Parked ones go on.
select pg_temp.start(5, '{"tags": ["a", "b"]}');
update core_private.workflow_cursors set state = 'P', due_at = null, deaths = 11;
select is((select why from core.workflow_waits), 'parked: processes died in it 11 times, in its first step', 'parked');
select is(pg_temp.retry(5), true, 'goes on');
select is(pg_temp.claim(), 1::bigint, 'and runs');
-- A limit is one of runs, whatever form they have and however many branches.
create temporary table x as select core_node.register_workflow('shop', 'x', 1, '[{"name": "p", "kind": "parallel", "steps": [{"name": "a", "kind": "step"}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]}]', '{"concurrency": 2}') as def;
create function pg_temp.claim_x() returns bigint language sql as $$ select count(*) from core_node.claim_runs('shop', array(select max(def) from x), 'n1', 10, '1 h') $$;
select core.start_workflow('shop', 'x');
select core_node.fan_out(run_id, '', epoch, token, 0, 1, 'p', '{0}', '{a,b,c}') from core_node.claim_runs('shop', array(select def from x), 'n1', 10, '1 h');
select is(pg_temp.claim_x() + pg_temp.claim_x(), 3::bigint, 'three branches are one run');
insert into x select core_node.register_workflow('shop', 'x', 2, '[{"name": "q", "kind": "step"}]', '{"concurrency": 2}');
select core.start_workflow('shop', 'x') from generate_series(1, 2);
select is(pg_temp.claim_x(), 1::bigint, 'which counts for another form, too');
delete from core_private.workflow_cursors where def_id in (select def from x); delete from core_private.workflow_journal where key = 'p'; delete from core_private.workflow_runs where workflow = 'x';
-- Retention.
select pg_temp.later('11 days');
select is((core_private.apply_retention() ->> 'workflow_runs')::int, 4, 'what ended is removed');
select is((select string_agg(status, ' ') from core_private.workflow_runs), 'open', 'what did not, not');
select is((select count(*) from core_private.workflow_journal), 0::bigint, 'with its journal');
select pg_temp.start(6);
delete from core_private.workflow_cursors where run_id = (select run_id from r where n = 6);
update core_private.workflow_runs set status = 'compensation_failed', finished_at = core_private.now() - interval '20 days' where run_id = (select run_id from r where n = 6);
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) select 'shop', 'workflow_compensation', jsonb_build_object('runId', run_id), '1', 1, core_private.now(), 'r' from r where n = 6;
select is(core_private.remove_runs(100, clock_timestamp() + '1 min'), 0, 'nor what somebody has to look at');
select core.accept_workflow(run_id, 'seen') from r where n = 6;
select is(core_private.remove_runs(100, clock_timestamp() + '1 min'), 1, 'until he has');
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'a namespace with runs is not dropped');
select lives_ok($$select core.drop_namespace('shop', 'shop', true)$$, 'but by force');
select is((select count(*) from core_private.workflow_cursors) + (select count(*) from core_private.workflow_runs) + (select count(*) from core_private.workflow_definitions), 0::bigint, 'with all of them');
