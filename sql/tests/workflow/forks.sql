-- What a fork inside of blocks takes over.
-- holds: W13 (forks inside of blocks)
select core.create_namespace('shop');
create temporary table d as select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step"}, {"name": "p", "kind": "parallel", "steps": [{"name": "left", "kind": "step"}, {"name": "right", "kind": "sequence", "steps": [{"name": "r1", "kind": "step"}, {"name": "r2", "kind": "step"}]}]},
  {"name": "w", "kind": "route", "cases": {"long": [{"name": "l", "kind": "loop", "max": 9, "steps": [{"name": "m", "kind": "map"}, {"name": "c", "kind": "step"}]}]}}, {"name": "z", "kind": "step"}]') as def;
create temporary table r as select (core.start_workflow('shop', 'order')).run_id;
insert into core_private.workflow_journal (run_id, key, ord, status, result, attempts)
select run_id, k, o::int[], 'c', '[1, 2]', 1 from r, (values ('a', '{0}'), ('p', '{1}'), ('left', '{1,0}'), ('r1', '{1,1,0}'), ('r2', '{1,1,1}'), ('w', '{2}'), ('l#1', '{2,0,0,1}'), ('m#1', '{2,0,0,1,0}'), ('m#1#0', '{2,0,0,1,0,0}'),
  ('m#1#1', '{2,0,0,1,0,1}'), ('c#1', '{2,0,0,1,1}'), ('l#2', '{2,0,0,2}'), ('m#2', '{2,0,0,2,0}'), ('m#2#0', '{2,0,0,2,0,0}'), ('m#2#1', '{2,0,0,2,0,1}'), ('c#2', '{2,0,0,2,1}'), ('z', '{3}')) v(k, o);
create function pg_temp.taken(p_key text) returns text language plpgsql as $$
declare v_fork uuid := (select core.fork_workflow(run_id, p_key) from r); begin
  return (select string_agg(j.key || case when j.status = 'p' then '?' else '' end, ' ' order by j.ord) || ' ' || (select c.entered from core_private.workflow_cursors c where c.run_id = v_fork) from core_private.workflow_journal j where j.run_id = v_fork and j.inherited); end $$;
select is(pg_temp.taken('left'), 'a r1 r2 2', 'the other branch'), is(pg_temp.taken('r2'), 'a left r1 2', 'what the branch did before'), is(pg_temp.taken('r1'), 'a left 2', 'and not behind'),
       is(pg_temp.taken('m#2#0'), 'a p left r1 r2 w l#1 m#1 m#1#0 m#1#1 c#1 m#2? m#2#1 3', 'other items, under their numbers'), is(pg_temp.taken('c#1'), 'a p left r1 r2 w m#1 m#1#0 m#1#1 3', 'the turn, without those behind'),
       is(pg_temp.taken('m#2'), 'a p left r1 r2 w l#1 m#1 m#1#0 m#1#1 c#1 3', 'a map as a whole'), is(pg_temp.taken('w'), 'a p left r1 r2 2', 'an outermost one');
select throws_ok($$select pg_temp.taken('right')$$, 'NX117', 'the run has not come to step ''right'' of workflow order', 'what is no step by itself'), throws_ok($$select pg_temp.taken('c#3')$$, 'NX117', null, 'a turn that there was not');
insert into core_private.workflow_journal (run_id, key, ord, status, attempts) select run_id, 'r1~undo', '{1,1,0}', 'c', 1 from r;
select throws_ok($$select pg_temp.taken('r2')$$, 'NX227', null, 'what was undone is not taken over'), is(pg_temp.taken('r1'), 'a left 2', 'what is run again may have been');
-- A step that the run has not come to, and a run that is being undone.
delete from core_private.workflow_journal where not inherited and key <> 'a' and run_id = (select run_id from r);
select throws_ok($$select pg_temp.taken('w')$$, 'NX117', 'the run has not come to step ''w'' of workflow order', 'an outermost one that it has not come to'), is(pg_temp.taken('p'), 'a 1', 'the one that it is at');
update core_private.workflow_runs set status = 'compensating' where run_id = (select run_id from r);
select throws_ok($$select pg_temp.taken('p')$$, 'NX227', null, 'what is just being undone is not gone on with');
