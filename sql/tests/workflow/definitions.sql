-- Code that changed under runs: what fits is taken over, what does not is named, and nodes get only what they have.
-- holds: W11, others-new-code
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
create function pg_temp.later(p interval) returns void language sql as $$ update now_is set t = t + p $$;
create function pg_temp.register(p_steps jsonb, p_version int = 1) returns bigint language sql as $$ select pg_temp.later('1 s'); select core_node.register_workflow('shop', 'w', p_version, p_steps) $$;
create temporary table d (n text, def bigint);
insert into d select 'old', pg_temp.register('[{"name": "a", "kind": "step"}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]');
select is(pg_temp.register('[{"name": "a", "kind": "step", "max": 7}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]'), (select def from d), 'numbers are not its form');
select isnt(pg_temp.register('[{"name": "a", "kind": "step", "undo": "go"}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]'), (select def from d), 'kinds of compensation are');
select is((select array_agg(core_private.common_steps(o.prefix_hashes, core_private.prefix_hashes('w', s::jsonb)) order by n) from core_private.workflow_definitions o, unnest(array[
  '[]', '[{"name": "a", "kind": "step"}]', '[{"name": "a", "kind": "step"}, {"name": "x", "kind": "step"}, {"name": "c", "kind": "step"}]', '[{"name": "a", "kind": "tx"}]']) with ordinality s(s, n) where o.def_id = (select def from d)),
  '{0,1,1,0}', 'what they have in common');
select pg_temp.register('[{"name": "a", "kind": "step"}, {"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]');
create temporary table r (n text, run_id uuid);
insert into r select n, run_id from unnest('{begun,far,parked,leased}'::text[]) n, core.start_workflow('shop', 'w', to_jsonb(n));
update core_private.workflow_cursors c set entered = case r.n when 'far' then 2 else 1 end, epoch = 1 from r where r.run_id = c.run_id;
insert into core_private.workflow_cursors (run_id, path, def_id, due_at, entered) select run_id, 'm/0', def, core_private.now(), 1 from r, d where r.n = 'far' and d.n = 'old';
update core_private.workflow_cursors c set token = gen_random_uuid(), due_at = core_private.now() + '20 s' from r where r.run_id = c.run_id and r.n = 'leased';
update core_private.workflow_cursors c set state = 'W', waiting_for = 'go', due_at = null, wait_key = 'x', wait_ord = '{1}' from r where r.run_id = c.run_id and r.n = 'parked';
insert into d select 'new', pg_temp.register('[{"name": "a", "kind": "step"}, {"name": "b2", "kind": "step"}]', 2);
select is((select string_agg(format('%s %s', why, n), ', ' order by n) from core.workflow_waits join r using (run_id) where why is not null), 'no live node has the workflow begun, no live node has the workflow far, no live node has the workflow far', 'nobody is there');
select is(core_private.retarget_runs(), 0, 'and nothing is done');
select core_node.register_node('shop', 'n1', true, '{}', '{}', '{}');
select core_node.replace_capabilities('n1', incarnation, '{}', '{}', array(select 'w#' || def from d where n = 'new')) from core.nodes;
select is((select string_agg(format('%s %s', why, n), ', ' order by n) from core.workflow_waits join r using (run_id) where why is not null), 'a node has another form of it that fits, and takes the run in a moment begun, definition_mismatch far, definition_mismatch far', 'a node with another form, and a branch that has failed and so counts less than its run');
select is((select row(nodes, runs, newest)::text from core.workflow_definitions where def_id = (select def from d where n = 'new')), '({n1},0,t)', 'which is seen');
select is((select count(*) from core_node.claim_runs('shop', array(select def from d where n = 'new'), 'n1', 10, '30 s')), 0::bigint, 'gets nothing of the old one');
select is((core_private.maintain_workflows() ->> 'retargeted')::int, 2, 'what fits is taken over');
select is((select string_agg(n, ' ' order by n) from core_private.workflow_cursors c join r using (run_id) join core_private.workflow_runs w using (run_id) where c.def_id = (select def from d where n = 'new') and w.def_id = c.def_id), 'begun parked', 'also what waits');
select is((select string_agg(input ->> 0, ' ') from core_node.claim_runs('shop', array(select def from d where n = 'new'), 'n1', 10, '30 s')), 'begun', 'and runs there');
select pg_temp.later('30 s');
update core.nodes set last_heartbeat = core_private.now();
select is(core_private.retarget_runs(), 1, 'what was leased comes when its lease is over');
select is(core_private.retarget_runs(1), 0, 'what does not fit is left');
delete from core_private.workflow_cursors where path <> '';
select is((select string_agg(n, ' ') from core_private.workflow_cursors c join r using (run_id) where c.def_id = (select def from d where n = 'old')), 'far', 'to a node that has it');
select core_node.replace_capabilities('n1', incarnation, '{}', '{}', array(select 'w#' || def from d)) from core.nodes;
select is((select why from core.workflow_waits join r using (run_id) where n = 'far'), null, 'which is then not in need');
update core.nodes set last_heartbeat = core_private.now() - interval '1 day';
select is((select why from core.workflow_waits join r using (run_id) where n = 'far'), 'no live node has the workflow', 'unless that is silent');
update core.nodes set last_heartbeat = core_private.now(), state = 'draining';
select is((select why from core.workflow_waits join r using (run_id) where n = 'far'), 'no live node has the workflow', 'or ends');
update core.nodes set state = 'active';
-- A step that has failed once is not begun, unless it is undone all the same.
create temporary table v as select core_node.register_workflow('shop', 'v', 1, '[{"name": "a", "kind": "step"}, {"name": "b", "kind": "step", "undo": "go", "undo_on_failure": true}]') as def;
create temporary table f as select n, run_id from unnest('{plain,undone,given_up}'::text[]) n, core.start_workflow('shop', 'v', to_jsonb(n));
create temporary table h as select * from core_node.claim_runs('shop', array(select def from v), 'n1', 10, '30 s');
select core_node.commit_step(run_id, '', epoch, token, 0, 1, 'a', '{0}', '1') from h;
select core_node.fail_step(h.run_id, '', epoch, token, 1, 1, 'b', '{1}', case n when 'given_up' then 'reject' else 'retry' end, null, null, 'bad', 'bad', case when n <> 'plain' then '{"kind": "go", "on_failure": true}'::jsonb end) from h join f using (run_id);
select is((select string_agg(n || ' ' || attempt || status::text, ', ' order by n) from core_private.workflow_cursors join f using (run_id) join core_private.workflow_journal using (run_id) where key = 'b'), 'given_up 0f, plain 1p, undone 1p', 'all have failed once');
create temporary table v2 as select core_node.register_workflow('shop', 'v', 2, '[{"name": "a", "kind": "step"}, {"name": "b2", "kind": "step"}, {"name": "b", "kind": "step", "undo": "go", "undo_on_failure": true}]') as def;
select core_node.replace_capabilities('n1', incarnation, '{}', '{}', array(select 'v#' || def from v2)) from core.nodes;
select is(core_private.retarget_runs(), 1, 'what may be undone needs the code that undoes it');
select is((select n || ' ' || attempt || coalesce((select string_agg(key, ' ') from core_private.workflow_journal j where j.run_id = f.run_id), '') from f join core_private.workflow_cursors using (run_id) where def_id = (select def from v2)), 'plain 0a', 'the other begins what is there now anew');
-- Many runs that nobody can run cost those who look elsewhere nothing.
insert into core_private.workflow_runs (run_id, namespace, workflow, def_id, input, principal, created_at, updated_at)
select gen_random_uuid(), 'shop', 'w', -1, '1', 'x', core_private.now(), core_private.now() from generate_series(1, 3000);
insert into core_private.workflow_cursors (run_id, def_id, due_at, state)
select run_id, case when mine then (select def from d where n = 'new') else -1 end, core_private.now() + case when mine or random() < 0.5 then interval '1 year' else '-1 h' end, 'T'
  from (select run_id, random() < 0.5 as mine from core_private.workflow_runs where def_id = -1) r;
analyze core_private.workflow_cursors;
create function pg_temp.pages(p_sql text) returns int language plpgsql as $$ declare v json; begin execute 'explain (analyze, buffers, format json) ' || p_sql into v; return (v -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (v -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int; end $$;
select core_node.claim_runs('shop', array(select def from d where n = 'new'), 'n1', 10, '30 s');
-- The least of several looks: the catalog is read anew where many others change it meanwhile.
select cmp_ok((select min(pg_temp.pages($$select count(*) from core_node.claim_runs('shop', array(select def from d where n = 'new'), 'n1', 10, '30 s')$$)) from generate_series(1, 5)), '<', 300, 'a claim among sleepers and what nobody runs');
select cmp_ok((select min(pg_temp.pages($$select * from core_node.workflow_pace('shop', array(select def from d where n = 'new'))$$)) from generate_series(1, 5)), '<', 200, 'and the look before it');
