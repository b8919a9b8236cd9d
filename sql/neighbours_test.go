package nexussql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// others are tables of somebody else, partitioned in every way there is, with bounds that are no times and bounds that are.
const others = `
create table public.by_bigint (id bigint) partition by range (id);
create table public.by_bigint_0 partition of public.by_bigint for values from (0) to (1000);
create table public.by_bigint_1 partition of public.by_bigint for values from (minvalue) to (0);
create table public.by_bigint_default partition of public.by_bigint default;
create table public.by_text (name text) partition by range (name);
create table public.by_text_0 partition of public.by_text for values from ('a') to ('it''s '') TO (''x'')');
create table public.by_date (at date) partition by range (at);
create table public.by_date_0 partition of public.by_date for values from ('2026-01-01') to ('infinity');
create table public.by_time (at timestamptz) partition by range (at);
create table public.by_time_0 partition of public.by_time for values from ('-infinity') to ('2026-01-01');
create table public.by_local_time (at timestamp) partition by range (at);
create table public.by_local_time_0 partition of public.by_local_time for values from ('2026-01-01 00:30') to ('2026-02-01');
create table public.by_numeric (n numeric) partition by range (n);
create table public.by_numeric_0 partition of public.by_numeric for values from ('-1e30') to ('NaN');
create table public.by_uuid (id uuid) partition by range (id);
create table public.by_uuid_0 partition of public.by_uuid for values from ('00000000-0000-0000-0000-000000000000') to ('80000000-0000-0000-0000-000000000000');
create table public.by_two (id bigint, name text) partition by range (id, name);
create table public.by_two_0 partition of public.by_two for values from (0, 'a') to (0, maxvalue);
create table public.by_expression (payload jsonb) partition by range ((payload ->> 'a'));
create table public.by_expression_0 partition of public.by_expression for values from ('') to ('z');
create table public.by_list (name text) partition by list (name);
create table public.by_list_0 partition of public.by_list for values in ('FROM (''x'')', null);
create table public.by_hash (id bigint) partition by hash (id);
create table public.by_hash_0 partition of public.by_hash for values with (modulus 2, remainder 0);
create table public.nested (id bigint, name text) partition by range (id);
create table public.nested_0 partition of public.nested for values from (0) to (10) partition by range (name);
create table public.nested_0_0 partition of public.nested_0 for values from ('a') to ('b');
create table public.parent (id bigint);
create table public.child () inherits (public.parent);`

// plans are settings of a database under which the planner joins and looks in other ways.
var plans = []string{
	"jit = off", "enable_hashjoin = off", "enable_mergejoin = off", "enable_nestloop = off", "enable_indexscan = off",
	"enable_seqscan = off", "random_page_cost = 1000", "random_page_cost = 0", "enable_material = off", "enable_sort = off",
	"from_collapse_limit = 1", "join_collapse_limit = 1", "enable_memoize = off", "geqo_threshold = 2",
}

// A2: whatever plan there is, the bounds of other people's tables are not taken for times.
// holds: P2 (range, list and hash by every kind of key, before and after ANALYZE, under forced plans)
func TestPartitionedTablesOfOthers(t *testing.T) {
	db := dbtest.New(t)
	neighbour := db.Neighbour()
	if _, err := neighbour.Exec(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	look := func(t *testing.T, setting string) {
		t.Helper()
		name := db.Owner.Config().ConnConfig.Database
		db.Exec("alter database " + name + " set " + setting)
		defer db.Exec("alter database " + name + " reset " + strings.Fields(setting)[0])
		conn, err := pgx.Connect(t.Context(), db.OwnerURL)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for _, sql := range []string{
			`select coalesce(core.run_sweep('partitions') ->> 'error', '')`,
			`select case when count(*) >= 6 then '' else 'months are missing' end from core.partitions where from_time > core.now()`,
			`select case when count(*) = 1 then '' else 'no month' end from core.partitions where from_time <= core.now() and to_time > core.now()`,
			`select coalesce(string_agg(partition_name, ' '), '') from core.partitions where partition_name not like 'event_log_%'`,
		} {
			var wrong string
			if err := conn.QueryRow(t.Context(), sql).Scan(&wrong); err != nil {
				t.Errorf("%s: %s: %v", setting, sql, err)
			} else if wrong != "" {
				t.Errorf("%s: %s: %s", setting, sql, wrong)
			}
		}
	}
	for _, analyzed := range []bool{false, true} {
		t.Run(fmt.Sprintf("analyzed %v", analyzed), func(t *testing.T) {
			if analyzed {
				db.Exec("analyze pg_catalog.pg_class; analyze pg_catalog.pg_inherits; analyze pg_catalog.pg_namespace")
			}
			settings := plans
			if testing.Short() {
				settings = plans[:2]
			}
			for _, setting := range settings {
				look(t, setting)
			}
		})
	}
}

// A3: whoever maintains all that pg_partman knows leaves the log alone, and what somebody made of it all the same is put right. No row is
// lost on the way.
// holds: P2
func TestGlobalMaintenanceOfOthers(t *testing.T) {
	db := dbtest.New(t)
	if !dbtest.Get[bool](db, `select exists (select from pg_extension where extname = 'pg_partman')`) {
		t.Skip("this server has no pg_partman")
	}
	neighbour := db.Neighbour()
	db.Namespace("shop")
	native := dbtest.Get[string](db, `select case when extversion < '5' then 'native' else 'range' end from pg_extension where extname = 'pg_partman'`)
	exec(t, neighbour,
		`create table public.visits (at timestamptz not null) partition by range (at)`,
		`select partman.create_parent(p_parent_table := 'public.visits', p_control := 'at', p_type := '`+native+`', p_interval := '1 month')`,
		`update partman.part_config set retention = '1 month', retention_keep_table = false where parent_table = 'public.visits'`,
		`insert into public.visits select now() - interval '3 months'`)
	dropNewest := `do $$ declare p text; begin
		for p in select partition_name from core.partitions where not is_default order by to_time desc limit 3 loop execute format('drop table core.%I', p); end loop; end $$`
	const state = `select string_agg(partition_name || ' ' || from_time || ' ' || to_time || ' ' || owner, ', ' order by from_time) from core.partitions`
	const good = `select count(*) filter (where is_month and from_time > core.now()) >= 6 and bool_and(is_default or is_month) and bool_and(owner = 'nexus_owner') from core.partitions`

	t.Run("left alone", func(t *testing.T) {
		db.Exec(dropNewest)
		before := dbtest.Get[string](db, state)
		for _, pool := range []*pgxpool.Pool{neighbour, db.Owner} {
			exec(t, pool, `set timezone = 'America/New_York'`, `select partman.run_maintenance()`, `call partman.run_maintenance_proc()`, `reset all`)
		}
		if after := dbtest.Get[string](db, state); after != before {
			t.Errorf("maintained by others:\n%s\nnot as before:\n%s", after, before)
		}
		sweepPartitions(t, db, "")
		if !dbtest.Get[bool](db, good) {
			t.Error(dbtest.Get[string](db, state))
		}
	})
	t.Run("restored when it was switched on", func(t *testing.T) {
		db.Exec(`update partman.part_config set automatic_maintenance = 'on', premake = 1, retention = null, retention_keep_table = true, undo_in_progress = true,
			inherit_privileges = true where parent_table = 'core.event_log'`)
		sweepPartitions(t, db, "")
		if got := dbtest.Get[string](db, `select concat_ws(' ', automatic_maintenance, premake, retention::interval, retention_keep_table, undo_in_progress, inherit_privileges)
			from partman.part_config where parent_table = 'core.event_log'`); got != "off 7 6 mons f f f" {
			t.Error(got)
		}
	})
	t.Run("put right", func(t *testing.T) {
		db.Exec(dropNewest)
		db.Exec(`update partman.part_config set automatic_maintenance = 'on' where parent_table = 'core.event_log'`)
		exec(t, db.Owner, `set timezone = 'America/New_York'`, `select partman.run_maintenance()`, `select partman.run_maintenance()`, `reset all`)
		// The same by hand, for pg_partman gets it right on some versions.
		db.Exec(dropNewest)
		db.Exec(`do $$ declare m timestamptz := (select max(to_time) from core.partitions); begin
			execute format('create table core.event_log_ny partition of core.event_log for values from (%L) to (%L)', m + interval '5 hours', m + interval '1 month 5 hours'); end $$`)
		db.Exec(`insert into core.event_log (event_id, namespace, event_type, payload, emitted_at)
			select -row_number() over (), 'shop', 'moved', '{}', x from core.partitions p, unnest(array[from_time, from_time - interval '1 minute', to_time - interval '1 minute']) x
			 where partition_name = 'event_log_ny'`)
		rows := dbtest.Get[string](db, `select string_agg(event_id || ' ' || emitted_at, ', ' order by event_id) from core.event_log`)
		sweepPartitions(t, db, "event_log_ny from")
		db.Exec(`select core.repair_partitions()`)
		if !dbtest.Get[bool](db, good) {
			t.Error(dbtest.Get[string](db, state))
		}
		if got := dbtest.Get[string](db, `select string_agg(event_id || ' ' || emitted_at, ', ' order by event_id) from core.event_log`); got != rows {
			t.Errorf("rows are %s, were %s", got, rows)
		}
		if n := dbtest.Get[int](db, `select count(*)::int from core.event_log where tableoid = 'core.event_log_default'::regclass`); n > 0 {
			t.Errorf("%d rows stand in the default partition", n)
		}
		sweepPartitions(t, db, "")
	})
	t.Run("owners", func(t *testing.T) {
		for i, role := range []string{dbtest.Neighbour, "postgres"} {
			db.Exec(`do $$ declare p text := (select partition_name from core.partitions where not is_default order by to_time desc offset ` + fmt.Sprint(i) + ` limit 1); begin
				execute format('alter table core.%I owner to ` + role + `', p); end $$`)
		}
		sweepPartitions(t, db, "") // whose they are does not stop it
		db.Exec(`select core.repair_partitions()`)
		if got := dbtest.Get[string](db, `select string_agg(owner::text, ' ' order by owner) from core.partitions where owner <> 'nexus_owner'`); got != dbtest.Neighbour+" postgres" {
			t.Errorf("taken from roles that nexus_owner is no member of, or not there: %s", got)
		}
		db.Exec(`grant ` + dbtest.Neighbour + ` to nexus_owner`)
		defer db.Exec(`revoke ` + dbtest.Neighbour + ` from nexus_owner`)
		db.Exec(`select core.repair_partitions()`)
		if got := dbtest.Get[string](db, `select string_agg(owner::text, ' ' order by owner) from core.partitions where owner <> 'nexus_owner'`); got != "postgres" {
			t.Errorf("not taken back: %s", got)
		}
	})
	t.Run("somebody sits on pg_partman's lock", func(t *testing.T) {
		db.Exec(dropNewest)
		conn, err := pgx.Connect(t.Context(), neighbour.Config().ConnString())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(t.Context(), `select pg_advisory_lock(hashtext('pg_partman run_maintenance'))`); err != nil {
			t.Fatal(err)
		}
		sweepPartitions(t, db, "")
	})
	t.Run("retention", func(t *testing.T) {
		db.Exec(`update nexus_test.clock set shift = '3 months'`)
		sweepPartitions(t, db, "")
		if n := dbtest.Get[int](db, `select count(*)::int from core.partitions where to_time < core.now() - interval '6 months'`); n > 0 {
			t.Errorf("%d old months are left", n)
		}
	})
}

// sweepPartitions runs the sweep and wants this fault, or none.
func sweepPartitions(t *testing.T, db *dbtest.DB, want string) {
	t.Helper()
	got := dbtest.Get[string](db, `select coalesce(r ->> 'error', r #>> '{result,fault}', '') from core.run_sweep('partitions') r`)
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("the sweep says %q, want %q", got, want)
	}
}

// exec runs statements of somebody else's, one by one.
func exec(t *testing.T, pool *pgxpool.Pool, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
