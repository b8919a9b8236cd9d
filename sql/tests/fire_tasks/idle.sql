-- S2: when nothing is due a tick is one query, on two small indexes, however many tasks there are.
-- holds: S2
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) select 'shop', 'task ' || g, '0 3 * * *', 'x' from generate_series(1, 2000) g;
analyze core.scheduled_tasks;
select core_private.fire_tasks(100);
create temporary table before as select relname, seq_scan, coalesce(idx_scan, 0) as idx_scan, coalesce(idx_tup_fetch, 0) as fetched from pg_stat_xact_user_tables where schemaname in ('core', 'core_node', 'core_private');
select core_private.fire_tasks(100);
select results_eq($$select a.relname::text collate "default", a.seq_scan - coalesce(b.seq_scan, 0), coalesce(a.idx_scan, 0) - coalesce(b.idx_scan, 0)
  from pg_stat_xact_user_tables a left join before b using (relname) where a.schemaname in ('core', 'core_node', 'core_private') and (a.seq_scan, coalesce(a.idx_scan, 0)) is distinct from (b.seq_scan, b.idx_scan) order by 1$$,
  $$values ('scheduled_tasks', 0::bigint, 2::bigint), ('scheduler', 1, 0)$$, 'two looks into indexes, and the row of settings');
