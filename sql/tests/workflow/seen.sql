-- What metrics count, and what comes next by itself.
-- holds: metrics (workflows), W13 (upcoming)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_reader login in role nexus_reader; create role t_operator login in role nexus_operator;
select core.create_namespace('shop'), core.create_namespace('other');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
select is(core_private.workflow_counts('shop'), null, 'no workflows');
create temporary table d as select core_node.register_workflow('shop', 'order', 1, '[{"name": "nap", "kind": "sleep"}, {"name": "a", "kind": "step", "undo": "go"}]') as def, core_node.register_workflow('shop', 'gone', 1, '[{"name": "a", "kind": "step"}]') as gone;
select core_node.register_node('shop', 'n', true, '{x}', '{}', '{default}');
insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key) select node_id, incarnation, 'workflow', '', 'order#' || def from core.nodes, d;
create temporary table r as select (core.start_workflow('shop', 'order', '{"card": 42}', '{"timeout": "1 day", "tags": ["vip"]}')).run_id; grant all on r to public;
select core.start_workflow('shop', 'order', p_options => '{"delay": "2 h"}'), core.start_workflow('shop', 'gone');
update now_is set t = t + interval '40 s';
select is(core_private.workflow_counts('shop') #- '{runs,cancelled}' #- '{runs,timed_out}' #- '{runs,completed}' #- '{runs,failed}', '{"runs": {"open": 3, "compensating": 0, "compensation_failed": 0}, "due_lag_seconds": 40.000000, "stranded": 1, "parked": 0}', 'counted: what is due and nobody takes, what is of code that nobody has');
create temporary table c as select * from core_node.claim_runs('shop', array[(select def from d)], 'n', 1, '30 s');
select is((core_private.workflow_counts('shop') ->> 'due_lag_seconds')::numeric, 0::numeric, 'what somebody has is not late');
select is((select outcome from c, core_node.wait_step(c.run_id, '', c.epoch, c.token, 0, 1, 'nap', '{1}', 'sleep', '1 h')), 'waits', 'it sleeps');
select is((select array_agg(concat_ws(' ', kind, name, due_in, retrying) order by due_at) from core.upcoming), '{"node gone -00:00:40 f","time order 01:00:00 f","node order 01:59:20 f","timeout order 23:59:20 f"}', 'what comes next: runs that are due or sleep, delayed ones, timeouts');
select core.schedule_task('shop', 'nightly', '0 4 * * *', 'x');
select is((select kind || ' ' || name from core.upcoming where run_id is null), 'task nightly', 'beside tasks');
update core_private.workflow_runs set status = 'compensation_failed', finished_at = core_private.now(), result = '{"secret": 1}' where run_id = (select run_id from r);
select is((core_private.workflow_counts('shop') #>> '{runs,compensation_failed}')::int, 1, 'half undone');
select is(core_node.metrics_sample('other') -> 'workflows', 'null'::jsonb, 'no others');
-- by role
insert into core_private.workflow_journal (run_id, key, ord, status, result) select run_id, 'a', '{2}', 'c', '{"secret": 2}' from r;
set session authorization t_reader; set search_path = tap, pg_catalog;
select is((select (w.input, w.result, w.tags)::text from core.workflow_runs w join r using (run_id)), '(,,{vip})', 'who may only read sees neither input nor result'),
       is((select string_agg(key || coalesce(s.result::text, ' -'), ', ') from core.workflow_steps s join r using (run_id) where key = 'a'), 'a -', 'nor what steps returned');
reset session authorization; set session authorization t_operator; set search_path = tap, pg_catalog;
select is((select (w.input ->> 'card', w.result ->> 'secret')::text from core.workflow_runs w join r using (run_id)), '(42,1)', 'who operates does'),
       is((select s.result ->> 'secret' from core.workflow_steps s join r using (run_id) where key = 'a'), '2', 'of steps as well');
-- processes die in one
reset session authorization; set search_path = tap, pg_catalog;
create temporary table p as select (core.start_workflow('shop', 'order')).run_id;
create function pg_temp.parked() returns int language sql as $$ select (core_private.workflow_counts('shop') ->> 'parked')::int $$;
update core_private.workflow_cursors set deaths = 10, token = gen_random_uuid(), due_at = core.now() where run_id = (select run_id from p);
select is(pg_temp.parked(), 0, 'it goes on ten times');
select core_node.claim_runs('shop', array[(select def from d)], 'n', 10, '30 s');
select is(pg_temp.parked(), 1, 'what processes died in too often is counted');
select core.retry_workflow(run_id) from p;
select is(pg_temp.parked(), 0, 'until somebody has it go on');
