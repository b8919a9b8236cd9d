-- Sleeps, signals and their timeouts, retries and deaths, by the database's clock.
-- holds: W3, W6, W7, others-killers (steps: parked)
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "sleep"}, {"name": "go", "kind": "signal"}, {"name": "b", "kind": "step"}]') as def;
create temporary table c as select k.*, null::jsonb as results, null::jsonb as pending, null::text as st, null::text as undo_key from core_private.workflow_cursors k;
-- Claims what is due; how many.
create function pg_temp.claim() returns text language sql as $$
  delete from c;
  insert into c (run_id, path, def_id, epoch, token, pos, attempt, deaths, results, pending, st, undo_key)
  select run_id, path, def_id, epoch, token, pos, attempt, deaths, results, pending, state, undo_key from core_node.claim_runs('shop', array(select def from d), 'n1', 100, '30 s');
  select coalesce(string_agg(format('%s:%s:%s', path, pos, attempt), ' ' order by path), 'none') from c $$;
create function pg_temp.wait(p_key text, p_kind text, p_for interval = null, p_until timestamptz = null, p_signal text = null) returns text language sql as $$
  select w.outcome || coalesce(' ' || w.result::text, '') from c, core_node.wait_step(c.run_id, c.path, c.epoch, c.token, c.pos, 1, p_key, '{1}', p_kind, p_for, p_until, p_signal) w $$;
create function pg_temp.fail(p_action text, p_policy jsonb = null, p_after interval = null) returns text language sql as $$
  select f.outcome || coalesce(' ' || (f.due_at - core_private.now())::text, '') from c, core_node.fail_step(c.run_id, c.path, c.epoch, c.token, c.pos, 1, 'b', '{3}', p_action, p_after, p_policy, 'error', 'oops') f $$;
select is((select due from core_node.workflow_pace('shop', array(select def from d))), null::interval, 'without runs nothing is due, and nobody looks again at once');
create temporary table r as select run_id from core.start_workflow('shop', 'w', '{}', '{"delay": "10 s"}');
select is(pg_temp.claim(), 'none', 'a start delay');
select is((select due from core_node.workflow_pace('shop', array(select def from d))), '10 s', 'whose end is known');
select pg_temp.later('10 s');
select is((select due from core_node.workflow_pace('shop', array(select def from d))), '0', 'then it is due');
select is(pg_temp.claim(), ':0:0', 'due then');
select throws_ok($$select core_node.set_progress(c.run_id, c.token, to_jsonb(repeat('x', 70000))) from c$$, 'NX601', 'the progress has 70002 bytes, at most 65536 are allowed', 'progress has a limit of its own');
select is((select core_node.set_progress(c.run_id, c.token, '"half"') from c), true, 'and is taken within it');
select throws_ok($$select pg_temp.wait('a', 'sleep', '40 years')$$, 'NX006', null, 'no wait of more than 30 years');
select throws_ok(format('select pg_temp.wait(%L, %L, null, %L)', 'a', 'until', t), 'NX006', null, 'no wait until ' || t) from unnest('{infinity,294276-01-01,2061-01-01}'::text[]) t;
savepoint s; -- what is over is over, however long ago
select matches(pg_temp.wait('a', 'until', null, '4713-01-01 BC'), '^go', 'the first year of Postgres');
rollback to s;
select matches(pg_temp.wait('a', 'until', null, '-infinity'), '^go', 'before all time');
rollback to s;
select is(pg_temp.wait('a', 'sleep', '-1 s'), 'go {"until": "2030-01-01T00:00:09.000000Z"}', 'a time that is over: no wait');
update c set pos = 0;
update core_private.workflow_cursors set pos = 0; delete from core_private.workflow_journal;
select is(pg_temp.wait('a', 'sleep', '20 years'), 'waits', 'it sleeps');
select is(pg_temp.wait('a', 'sleep', '20 years'), 'lost', 'the lease is given back');
select is((select lost from core_node.extend_runs(array(select run_id from c), '{""}', array(select epoch from c), array(select token from c), '30 s')), '{1}', 'and cannot be renewed');
select pg_temp.later('20 years');
select is(pg_temp.claim(), ':1:0', 'and goes on');
select is((select results from c), '{"a": {"until": "2050-01-01T00:00:10.000000Z"}}', 'with the sleep as a step');
select is((select core.signal_workflow(run_id, 'go', '{"n": 1}') || core.signal_workflow(run_id, 'go') from r), 'storedstored', 'signals before the wait');
select is(pg_temp.claim(), 'none', 'have nothing go on');
insert into c (run_id, path, epoch, token, pos) select run_id, path, epoch, token, pos from core_private.workflow_cursors;
select is(pg_temp.wait('go', 'signal', '1 h', null, 'go'), 'go {"payload": {"n": 1}}', 'the wait takes the first one');
select is((select count(*) from core_private.workflow_signals where consumed_at is null), 1::bigint, 'and leaves the other one');
update c set pos = 2;
select is(pg_temp.wait('go#2', 'signal', '1 h', null, 'stop'), 'waits', 'for another one it waits');
select pg_temp.later('1 h');
select is(pg_temp.claim(), ':3:0', 'until its time is over');
select is((select results -> 'go#2' from c), 'null', 'which is null');
select is(pg_temp.wait('x', 'signal', null, null, 'stop'), 'waits', 'for ever');
select pg_temp.later('1 year');
select is(pg_temp.claim(), 'none', 'or until it comes');
select is((select core.signal_workflow(run_id, 'stop') from r), 'stored', 'sent');
select is((select due from core_node.workflow_pace('shop', array(select def from d))), '0', 'which is something to do');
select is(pg_temp.claim(), ':4:0', 'and goes on');
select is((select results -> 'x' from c), '{"payload": null}', 'a signal without a payload is none that did not come');
select is(core.signal_workflow('00000000-0000-7000-8000-000000000000', 'go'), 'not_found', 'no such run');
-- Failures.
select is(pg_temp.fail('retry'), 'retried 00:00:01', 'fails once');
select pg_temp.later('1 s');
select is(pg_temp.claim(), ':4:1', 'again');
select is(pg_temp.fail('release', null, '3 s'), 'released 00:00:03', 'given back');
select pg_temp.later('3 s');
select is(pg_temp.claim(), ':4:1', 'without an attempt');
select is(pg_temp.fail('retry'), 'retried 00:00:02', 'fails again');
select pg_temp.later('2 s');
select is(pg_temp.claim(), ':4:2', 'a third attempt');
select is((select n.outcome from c, core_node.commit_steps(array[c.run_id], '{""}', array[c.epoch], array[c.token], array[c.pos], '{3}', '{b}', '{"{3}"}', '{1}', '{null}', '{next}', '{null}') n), 'ok', 'which goes well');
select is((select attempts from core_private.workflow_journal where key = 'b'), 3, 'attempts: 3');
select is((select attempt || ' ' || deaths from core_private.workflow_cursors), '0 0', 'the next step has failed never');
-- Deaths.
update c set pos = 5;
select pg_temp.later('31 s');
select is(pg_temp.claim(), ':5:0', 'a lease ends');
select is((select deaths from c), 1, 'which was a death');
select is(core_node.release_runs(array(select run_id from c), '{""}', array(select epoch from c), array[gen_random_uuid()]), 0, 'which another one cannot give back'),
       is(core_node.release_runs(array(select run_id from c), '{""}', array(select epoch - 1 from c), array(select token from c)), 0, 'nor the one before');
select is(core_node.release_runs(array(select run_id from c), '{""}', array(select epoch from c), array(select token from c)), 1, 'given back');
select is(pg_temp.claim(), ':5:0', 'at once');
select is((select deaths from c), 1, 'is none');
select is(pg_temp.fail('release', null, '0 s'), 'released 00:00:00', 'what answers');
select is((select pg_temp.claim() || ' ' || deaths from c), ':5:0 1', 'is claimed');
select is((select deaths from core_private.workflow_cursors), 0, 'and has had no deaths');
do $$ begin for i in 1 .. 10 loop perform pg_temp.later('31 s'); perform pg_temp.claim(); end loop; end $$;
select is((select deaths from c), 10, 'ten');
select pg_temp.later('31 s');
select is(pg_temp.claim(), 'none', 'the eleventh');
select is((select format('%s %s', state, deaths) from core_private.workflow_cursors), 'P 11', 'parks it');
select is((select waits_for || ': ' || why || ' (' || node_id || ')' from core.workflow_waits), 'operator: parked: processes died in it 11 times, last on node n1, in what comes after b (n1)', 'and says where');
update core_private.workflow_cursors set plain_bytes = 0;
select is((select why from core.workflow_waits), 'parked: processes died in it 11 times, last on node n1, whose log says if it could not be read, in what comes after b', 'and that it was claimed unread');
-- Of those in which processes died often one is in hand at a time, so that who kills them is found.
create function pg_temp.deaths() returns text language sql as $$ select string_agg(format('%s%s%s', c.state, c.deaths, case when c.token is not null and c.due_at > core_private.now() then '*' end), ' ' order by c.run_id) from core_private.workflow_cursors c where c.state <> 'P' $$;
create function pg_temp.suspect(p int) returns void language sql as $$ update core_private.workflow_cursors set deaths = p, token = gen_random_uuid(), due_at = core_private.now() where state <> 'P' $$;
select pg_temp.later('1 s'), core.start_workflow('shop', 'w') from generate_series(1, 3);
select pg_temp.suspect(4);
select is(pg_temp.claim() || ' ' || pg_temp.deaths(), ':0:0 :0:0 :0:0 R5* R5* R5*', 'after five deaths they are together for the last time');
select pg_temp.later('31 s');
select is(pg_temp.claim() || ' ' || pg_temp.deaths(), ':0:0 R6* R6 R6', 'and then one is in hand');
select pg_temp.later('6 s');
select is(pg_temp.claim() || ' ' || pg_temp.deaths(), 'none R6* R6 R6', 'with no other beside it');
select core.start_workflow('shop', 'w');
select is(pg_temp.claim() || ' ' || pg_temp.deaths(), ':0:0 R6* R6 R6 R0*', 'but those that nobody suspects');
delete from core_private.workflow_cursors where deaths = 0;
select pg_temp.later('25 s');
select is(pg_temp.claim() || ' ' || pg_temp.deaths(), ':0:0 R7 R6* R6', 'when it has died again another one goes on, which was due before');
