-- pg_partman sets search_path for the session; whoever let it run keeps their own
set local search_path = information_schema, tap, pg_catalog;
select core.run_sweep('partitions');
select tap.is(current_setting('search_path'), 'information_schema, tap, pg_catalog', 'run_sweep');
select core.maintain_partitions();
select tap.is(current_setting('search_path'), 'information_schema, tap, pg_catalog', 'maintain_partitions');
select core.repair_partitions();
select tap.is(current_setting('search_path'), 'information_schema, tap, pg_catalog', 'repair_partitions');
update core_private.sweeps set last_started_at = null;
select core.tick();
select tap.is(current_setting('search_path'), 'information_schema, tap, pg_catalog', 'tick');
