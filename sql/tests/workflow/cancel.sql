-- Cancels and timeouts: what waits ends at once, a step in hand is waited for, what was done is undone.
-- holds: W10
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "s", "kind": "step", "undo": "go"}, {"name": "par", "kind": "parallel", "steps": [{"name": "a", "kind": "step"}, {"name": "b", "kind": "step"}]}, {"name": "l", "kind": "step"}]') as def;
create temporary table r (n int, run_id uuid);
create function pg_temp.start(p_n int, p_options jsonb = '{}') returns void language sql as $$ insert into r select p_n, run_id from core.start_workflow('shop', 'w', '{}', p_options) $$;
create function pg_temp.claim(p_limit int = 100) returns bigint language sql as $$ select count(*) from core_node.claim_runs('shop', array(select def from d), 'n1', p_limit, '30 s') $$;
create function pg_temp.held(p_n int, p_path text = '') returns core_private.workflow_cursors language sql as $$ select k from core_private.workflow_cursors k join r using (run_id) where r.n = p_n and k.path = p_path $$;
create function pg_temp.step(p_n int, p_path text, p_key text, p_op text = 'next', p_more bool = false) returns text language sql as $$
  select string_agg(n.outcome, ' ') from pg_temp.held(p_n, p_path) h, core_node.commit_steps(array[h.run_id] || case when p_more then array[gen_random_uuid()] end, array[h.path] || case when p_more then array[''] end, array[h.epoch] || case when p_more then array[1] end,
    array[h.token] || case when p_more then array[gen_random_uuid()] end, array[h.pos] || case when p_more then array[0] end, array[1] || case when p_more then array[1] end, array[p_key] || case when p_more then array['x'] end, array['{1}'] || case when p_more then array['{1}'] end,
    array['1'] || case when p_more then array['1'] end, array['{"kind": "go"}'] || case when p_more then array[null] end, array[p_op] || case when p_more then array['next'] end, array[null] || case when p_more then array[null] end) n where n.n = 1 $$;
create function pg_temp.cancel(p_n int, p_compensate bool = true) returns text language sql as $$ select core.cancel_workflow(run_id, p_compensate, 'why not') from r where n = p_n $$;
create function pg_temp.is(p_n int) returns text language sql as $$ select concat_ws(' ', w.status, w.ending, w.error ->> 'reason', (select string_agg(format('%s:%s', c.path, c.state), ',' order by c.path) from core_private.workflow_cursors c where c.run_id = w.run_id)) from core_private.workflow_runs w join r using (run_id) where r.n = p_n $$;
select is(core.cancel_workflow('00000000-0000-7000-8000-000000000000'), 'not_found', 'no such run');
select pg_temp.start(1), pg_temp.start(2), pg_temp.start(3), pg_temp.start(4);
select is(pg_temp.cancel(1), 'cancelled', 'one that nobody has begun');
select is(pg_temp.is(1), 'cancelled cancelled', 'ends at once');
select is(pg_temp.cancel(1), 'already_finished', 'once');
select is(pg_temp.claim(), 3::bigint, 'three are in hand');
select is(pg_temp.cancel(2), 'cancelled', 'one in hand');
select is(pg_temp.cancel(2), 'cancelled', 'said again');
select is((select count(*) from core.workflow_runs where cancelling), 1::bigint, 'which is seen');
select is(pg_temp.is(2), 'open cancelled :R', 'goes on to the end of its step');
select is(pg_temp.step(2, '', 's', 'next', true), 'cancelled', 'which is journaled, in a group too');
select is(pg_temp.is(2), 'compensating cancelled cancelled :U', 'and undone');
select is(pg_temp.cancel(2) || ' ' || pg_temp.is(2), 'cancelled compensating cancelled cancelled :U', 'which goes on when it is said again');
select pg_temp.claim();
select is((select u.outcome from pg_temp.held(2) h, core_node.undo_step(h.run_id, h.epoch, h.token, 's', 'done') u), 'ended', 'now');
select is(pg_temp.is(2), 'cancelled cancelled cancelled', 'cancelled');
select is(pg_temp.cancel(3, false), 'cancelled', 'without compensation');
select is(pg_temp.step(3, '', 's', 'end'), 'cancelled', 'also if the step was the last');
select is(pg_temp.is(3), 'cancelled cancelled', 'cancelled, and nothing is undone');
-- Branches.
select is(pg_temp.step(4, '', 's'), 'ok', 'a step');
select is((select core_node.fan_out(h.run_id, '', h.epoch, h.token, h.pos, 2, 'par', '{2}', '{a,b}') from pg_temp.held(4) h), 'waits', 'branches');
select pg_temp.claim(1);
select is(pg_temp.cancel(4), 'cancelled', 'of which one is in hand');
select matches(pg_temp.is(4), '^open cancelled :J,par/[ab]:R$', 'the other one is gone');
select is((select f.outcome from core_private.workflow_cursors h join r using (run_id), core_node.fail_step(h.run_id, h.path, h.epoch, h.token, h.pos, 2, 'a', '{2,1}', 'retry') f where r.n = 4 and h.path <> ''), 'cancelled', 'a failure ends it as well');
select is(pg_temp.is(4), 'compensating cancelled cancelled :U', 'and the last one the run');
-- A lease that ends after the cancel.
select pg_temp.start(5);
select pg_temp.claim();
select pg_temp.cancel(5);
select pg_temp.later('31 s');
select pg_temp.claim();
select is(pg_temp.is(5), 'cancelled cancelled', 'a claim finds it');
-- Timeouts.
select pg_temp.start(6, '{"timeout": "1 h", "delay": "1 min"}');
select pg_temp.later('1 min'); select pg_temp.claim();
select is(pg_temp.step(6, '', 's', 'yield'), 'ok', 'a run with a timeout');
insert into r select 7, core_private.new_run('shop', 'w', def, '{}', core_private.now(), null, null, null, null, core_private.now(), run_id, 'k', 0, 1) from r, d where n = 6;
select pg_temp.claim(); select is(pg_temp.step(7, '', 's', 'yield'), 'ok', 'and a child');
select pg_temp.later('59 min'); select core_private.maintain_workflows();
select is(pg_temp.is(6), 'open :R', 'whose time is not over');
select pg_temp.later('1 min'); select core_private.maintain_workflows();
select is(pg_temp.is(6), 'compensating timed_out timed_out :U', 'whose time is over');
select is(pg_temp.is(7), 'compensating cancelled timed_out :U', 'its child is undone, too');
select is((select count(*) from core.audit_log where action = 'cancel_workflow'), 7::bigint, 'what people did is recorded');
-- What is being undone for another reason is not cancelled, but may be given up, whatever attempts are left.
select is((select core.cancel_workflow(run_id, true) from r where n = 6), 'compensating', 'it is said to be undone');
select is((select core.cancel_workflow(run_id, false, 'enough') from r where n = 6), 'cancelled', 'until that is given up');
select is((select w.status || ' ' || (w.error #>> '{compensation,error}') from r join core.workflow_runs w using (run_id) where n = 6), 'compensation_failed enough', 'as one that failed');
select is((select core.cancel_workflow(run_id, false) || ' ' || core.accept_workflow(run_id, 'seen') from r where n = 6), 'already_finished true', 'which somebody has to look at');
