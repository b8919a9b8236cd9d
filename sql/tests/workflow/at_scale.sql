-- W6: what a claim reads does not grow with how many are due, nor with what was claimed before and nobody has vacuumed.
-- This script is one transaction: none of its dead rows can be taken away, as where somebody holds a snapshot.
-- holds: W6 (pages read by a claim with 20,000 due and 10,000 dead)
select core.create_namespace('shop');
create or replace function core_private.now() returns timestamptz language sql stable as $$ select '2030-01-01T12:00:00Z'::timestamptz $$;
create temporary table d as select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]') as def;
insert into core_private.workflow_runs (run_id, namespace, workflow, def_id, input, principal, created_at, updated_at)
select ('00000000-0000-7000-8000-' || to_char(g, 'fm000000000000'))::uuid, 'shop', 'w', def, '{}', 'x', core.now(), core.now() from d, generate_series(1, 20000) g;
insert into core_private.workflow_cursors (run_id, def_id, due_at) select run_id, def_id, core.now() - interval '1 h' from core_private.workflow_runs order by random();
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
