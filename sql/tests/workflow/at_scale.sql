-- W6: what a claim reads does not grow with how many are due, nor with what was claimed before and nobody has vacuumed.
-- This script is one transaction: none of its dead rows can be taken away, as where somebody holds a snapshot.
-- holds: W6 (pages read by a claim with 20,000 due and 10,000 dead), others-held (runs)
select core.create_namespace('shop');
create or replace function core_private.now() returns timestamptz language sql stable as $$ select '2030-01-01T12:00:00Z'::timestamptz $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]') as def;
-- a commit reads its own cursors and not what else is leased, though its plan is from a time when that was little
-- holds: W2 (pages read by commits with 10,000 leased)
create function pg_temp.commit(p_n int, p_call text) returns bigint language plpgsql as $$
declare v_plan jsonb; v_pages bigint;
begin
  create temporary table held on commit drop as select * from core_private.workflow_cursors where token is not null and due_at > core.now() order by run_id limit p_n;
  execute 'explain (analyze, buffers, timing off, format json) ' || p_call into v_plan;
  drop table held;
  return (v_plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (v_plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
end $$;
create function pg_temp.group(p_n int) returns bigint language sql as $$
  select pg_temp.commit(p_n, $s$select core_node.commit_steps(array_agg(run_id), array_agg(path), array_agg(epoch), array_agg(token), array_agg(pos), array_agg(1), array_agg('k' || pos),
    array_agg('{1}'::text), array_agg('1'::text), array_agg(null::text), array_agg('next'::text), array_agg(null::text)) from held$s$)
$$;
create function pg_temp.one() returns bigint language sql as $$
  select pg_temp.commit(1, $s$select core_node.commit_step(run_id, path, epoch, token, pos, 1, 'k' || pos, '{1}', '1') from held$s$)
$$;
select core.start_workflow('shop', 'w', '{}') from generate_series(1, 2);
create temporary table few as select * from core_node.claim_runs('shop', array(select def from d), 'n', 2, '1 h');
do $$ begin for i in 1..7 loop perform pg_temp.group(2), pg_temp.group(1), pg_temp.one(); end loop; end $$;
select core_node.release_runs(array_agg(run_id), array_agg(path), array_agg(epoch), array_agg(token)) from few;
delete from core_private.workflow_cursors;
insert into core_private.workflow_runs (run_id, namespace, workflow, def_id, input, principal, created_at, updated_at)
select ('00000000-0000-7000-8000-' || to_char(g, 'fm000000000000'))::uuid, 'shop', 'w', def, '{}', 'x', core.now(), core.now() from d, generate_series(1, 20000) g;
insert into core_private.workflow_cursors (run_id, def_id, due_at) select run_id, def_id, core.now() - interval '1 h' from core_private.workflow_runs where run_id not in (select run_id from few) order by random();
create temporary table last (due_at timestamptz, run_id uuid); insert into last values (null, null);
create function pg_temp.claim(p_limit int, p_whole boolean default false) returns bigint language plpgsql as $$
declare v_plan jsonb;
begin
  execute format($s$explain (analyze, buffers, timing off, format json)
    with c as materialized (select c.due_at, c.run_id from core_node.claim_runs('shop', array(select def from d), 'n', %s, '1 h', %s) c),
    l as (select due_at, run_id from c order by due_at desc, run_id desc limit 1)
    update last set due_at = l.due_at, run_id = l.run_id from l$s$, p_limit,
    case when p_whole then 'null, null' else 'array(select due_at from last), array(select run_id from last)' end) into v_plan;
  return (v_plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (v_plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
end $$;
select pg_temp.claim(50);
create temporary table first as select pg_temp.claim(50) as pages;
select is((select count(*)::int from core_private.workflow_cursors where token is not null), 100, 'each claim gets others');
do $$ begin for i in 1..10 loop perform pg_temp.claim(1000); end loop; end $$;
select is((select count(*)::int from core_private.workflow_cursors where token is not null), 10100, 'up to its limit');
create temporary table later as select pg_temp.claim(50) as pages;
select cmp_ok((select pages from later), '<', (select pages * 3 / 2 + 50 from first), 'a claim behind ten thousand reads what one in front of them read');
-- what was due before is not lost
update core_private.workflow_cursors set token = null, due_at = core.now() - interval '2 h' where run_id = '00000000-0000-7000-8000-000000000007';
select pg_temp.claim(50);
select is((select token from core_private.workflow_cursors where run_id = '00000000-0000-7000-8000-000000000007'), null, 'what was due long before waits for a claim from the beginning');
select cmp_ok(pg_temp.claim(2, true), '>', 300::bigint, 'which walks over what is dead');
select isnt((select token from core_private.workflow_cursors where run_id = '00000000-0000-7000-8000-000000000007'), null, 'and gets it');
update core_private.workflow_cursors set token = null, due_at = core.now() - interval '100 ms' where run_id = '00000000-0000-7000-8000-000000000007';
update last set due_at = core.now(), run_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
select pg_temp.claim(1);
select isnt((select token from core_private.workflow_cursors where run_id = '00000000-0000-7000-8000-000000000007'), null, 'what was due within a second is looked at by each');
select cmp_ok(pg_temp.group(50), '<', 700::bigint, 'a group of fifty');
select cmp_ok(pg_temp.group(1), '<', 40::bigint, 'a group of one');
select cmp_ok(pg_temp.one(), '<', 40::bigint, 'one');
select is((select count(*)::int from core_private.workflow_journal where status = 'c' and run_id not in (select run_id from few)), 52, 'are committed');
