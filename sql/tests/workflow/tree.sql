-- A run as a tree: each container, each turn of a loop, the items that matter, children, and the states that views show.
-- holds: W13 (the tree)
select core.create_namespace('shop');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
select core_node.register_workflow('shop', 'kid', 1, '[{"name": "k", "kind": "step"}]');
select core_node.register_workflow('shop', 'flow', 1, '[
  {"name": "a", "kind": "step"},
  {"name": "q", "kind": "sequence", "steps": [
    {"name": "b", "kind": "step"},
    {"name": "r", "kind": "route", "cases": {
      "x": [{"name": "c", "kind": "step"}],
      "y": [{"name": "l", "kind": "loop", "max": 9, "steps": [{"name": "e", "kind": "child", "workflow": "kid"}, {"name": "m", "kind": "map", "max": 3, "undo": "item"}]}]}}]},
  {"name": "p", "kind": "parallel", "steps": [{"name": "f", "kind": "signal"}, {"name": "s", "kind": "sequence", "steps": [{"name": "g", "kind": "step"}, {"name": "h", "kind": "step"}]}]}]');
create temporary table r as select run_id from core.start_workflow('shop', 'flow');
create function pg_temp.done(p_key text, p_ord integer[], p_status "char" = 'c', p_result jsonb = '1') returns void language sql as $$
  insert into core_private.workflow_journal (run_id, key, ord, status, result) select run_id, p_key, p_ord, p_status, p_result from r
  on conflict (run_id, key) do update set status = excluded.status, result = excluded.result $$;
-- Indented by the level, with the first letter of the status behind.
create function pg_temp.tree() returns text language sql as $$
  select string_agg(repeat('.', depth) || coalesce(key, workflow) || coalesce(':' || left(status, 1), ''), ' ') from r, core.workflow_tree(run_id) $$;

select is((select status from r, core.workflow_tree(run_id)), 'pending', 'a run that nobody has begun');
select pg_temp.done('a', '{0}'), pg_temp.done('b', '{1,0}');
select is(pg_temp.tree(), 'flow:p .a:c .q:p ..b:c', 'a sequence that has begun');
select pg_temp.done('r', '{1,1}', 'c', '"y"'), pg_temp.done('e#1', '{1,1,1,0,1,0}');
create temporary table kid as select core_private.new_run('shop', 'kid', d.def_id, '{}', core.now(), null, null, null, null, core.now(), r.run_id, 'e#1', 0, 1) as run_id
  from r, core_private.workflow_definitions d where d.name = 'kid';
insert into core_private.workflow_journal (run_id, key, ord, status) select run_id, 'k', '{0}', 'c' from kid;
select is(pg_temp.tree(), 'flow:p .a:c .q:p ..b:c ..r:c ...l:p ....l#1:p .....e#1:c ......kid:p .......k:c', 'a turn that has begun, with a child');
select pg_temp.done('m#1', '{1,1,1,0,1,1}', 'p', (select jsonb_agg(i) from generate_series(1, 30) i));
select pg_temp.done('m#1#' || i, array[1,1,1,0,1,1,i], case i when 23 then 'f' when 24 then 'p' else 'c' end::"char") from generate_series(0, 24) i;
select pg_temp.done('m#1#22~undo', '{1,1,1,0,1,1,22}', 'f'), pg_temp.done('m#1#21~undo', '{1,1,1,0,1,1,21}');
select is((select string_agg(key, ' ') from r, core.workflow_tree(run_id) where kind in ('item', 'undo', 'more')),
  (select string_agg('m#1#' || i, ' ') from generate_series(0, 16) i) || ' m#1#22 m#1#22~undo m#1#23 m#1#24 + 10 more', 'twenty items, what went wrong before others, and how many there are beside them');
select is((select string_agg(format('%s %s %s', depth, kind, status), ', ') from r, core.workflow_tree(run_id) where key in ('q', 'l', 'l#1', 'm#1', 'm#1#23', 'm#1#22~undo')),
  '1 sequence failed, 3 loop failed, 4 turn failed, 5 map pending, 6 undo failed, 6 item failed', 'what has a failure in it has failed');
delete from core_private.workflow_journal where key ~ '^m#1#2';
select pg_temp.done('m#1', '{1,1,1,0,1,1}', 'c', '[]'), pg_temp.done('l#1', '{1,1,1,0,1}', 'c', 'false'), pg_temp.done('m#2', '{1,1,1,0,2,1}', 'c', '[]');
select is((select string_agg(key || ':' || left(status, 1), ' ') from r, core.workflow_tree(run_id) where kind in ('sequence', 'loop', 'turn')), 'q:p l:p l#1:c l#2:p', 'another turn');
select pg_temp.done('l#2', '{1,1,1,0,2}', 'c', 'true');
select is((select string_agg(key || ':' || left(status, 1), ' ') from r, core.workflow_tree(run_id) where kind in ('sequence', 'loop', 'turn')), 'q:c l:c l#1:c l#2:c', 'the last: all that ends with it is over');
select pg_temp.done('p', '{2}', 'p', null), pg_temp.done('g', '{2,1,0}');
update core_private.workflow_cursors set state = 'W', wait_key = 'f', wait_ord = '{2,0}', due_at = null, epoch = 1 where run_id = (select run_id from r);
select matches(pg_temp.tree(), ' \.p:p \.\.f:p \.\.s:p \.\.\.g:c$', 'branches, one of which waits for a signal');
select is((select status from r, core.workflow_tree(run_id) limit 1), (select status from r join core.workflow_runs using (run_id)), 'the run is as the view says');
select is((select status from r, core.workflow_tree(run_id) limit 1), 'waiting', 'which is waiting');
select pg_temp.done('h', '{2,1,1}');
select matches(pg_temp.tree(), ' \.\.s:c \.\.\.g:c \.\.\.h:c$', 'a sequence is over with its last step');
-- The child went on as another run, which is shown behind it.
create temporary table next as select core_private.new_run('shop', 'kid', w.def_id, '{}', core.now(), null, null, null, null, core.now(), r.run_id, 'e#1', 0, 1, k.run_id, k.run_id) as run_id
  from r, kid k join core_private.workflow_runs w using (run_id);
update core_private.workflow_runs set continued_as = (select run_id from next), status = 'completed', finished_at = core.now() where run_id = (select run_id from kid);
select matches(pg_temp.tree(), 'e#1:c \.{6}kid:c \.{7}k:c \.{6}kid:p', 'what a child went on as');
