package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Each safe mend is run on a database that needs it.
// holds: node-lost-queue, doctor-fix
func TestFixMends(t *testing.T) {
	for _, c := range []struct {
		check, harm, fix string
		after            State
	}{
		{"partitions ahead", `do $$ declare p text; begin
			select partition_name into p from core.partitions where not is_default order by to_time desc offset 2 limit 1;
			execute format('drop table core.%I', p); end $$`, "core.run_sweep('partitions')", OK},
		{"partitions ahead", `do $$ declare p text; begin
			for p in select partition_name from core.partitions where not is_default and to_time > core.now() loop
			execute format('drop table core.%I', p); end loop; end $$`, "core.run_sweep('partitions')", OK},
		{"default partition", `insert into core.event_log (event_id, namespace, event_type, payload, emitted_at)
			values (1, 'x', 'x', '{}', '2199-01-01')`, "core.repair_partitions()", OK},
		{"lost queues", `select core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), core.create_namespace('mall');
			drop table pgmq.q_core_events_shop; delete from pgmq.meta where queue_name = 'core_events_mall_dlq'`,
			"select core.create_namespace('mall')", OK},
		{"tick", "update core_private.sweeps set last_started_at = core.now() - interval '1 day'", "core.tick()", OK},
		{"sweeps", "update core_private.sweeps set failures = 3, last_error = 'boom' where name in ('reap', 'park')", "core.run_sweep('park')", OK},
		{"sweeps", "delete from core_private.sweeps where name in ('promote', 'park')", "core.run_sweep('promote')", OK},
		// What killed it is for people to find out: it stays a warning, and is settled all the same.
		{"lost nodes", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}');
			update core.nodes set last_heartbeat = core.now() - interval '1 hour'`, "core_node.reap_nodes()", Warn},
	} {
		t.Run(c.check, func(t *testing.T) {
			db := dbtest.New(t)
			db.Exec(c.harm)
			before := examine(t, db.Owner)
			if bad := named(t, before, c.check); !strings.Contains(strings.Join(bad.Fix, " "), c.fix) {
				t.Fatalf("the fix of %+v is not %s", bad, c.fix)
			}
			fixes, checks, err := Fix(t.Context(), db.Owner, before)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fixes {
				if f.Error != "" {
					t.Errorf("%+v", f)
				}
			}
			if got := named(t, checks, c.check); got.State != c.after || len(got.Fix) > 0 {
				t.Errorf("after %+v: %+v", fixes, got)
			}
		})
	}
}

// A partition that is missing cannot be made while its rows stand in the default one, so these move first, and what then is a gap
// is filled.
// holds: doctor-fix
func TestFixGoesFromCauseToEffect(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`do $$ declare p text; begin
		for p in select partition_name from core.partitions where not is_default and to_time > core.now() + interval '2 months' loop
		execute format('drop table core.%I', p); end loop; end $$`)
	db.Exec(`insert into core.event_log (event_id, namespace, event_type, payload, emitted_at) values (1, 'x', 'x', '{}', core.now() + interval '4 months')`)
	fixes, checks, err := Fix(t.Context(), db.Owner, examine(t, db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fixes {
		if f.Error != "" {
			t.Errorf("%+v", f)
		}
	}
	for _, name := range []string{"default partition", "partitions ahead"} {
		if c := named(t, checks, name); c.State != OK {
			t.Errorf("after %+v: %+v", fixes, c)
		}
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.event_log"); n != 1 {
		t.Errorf("%d events are left", n)
	}
}

// holds: doctor-fix
func TestFixSaysWhatItCannot(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("update core_private.sweeps set function = 'core.nothing()', failures = 1 where name = 'reap'")
	checks := examine(t, db.Owner)
	fixes, _, err := Fix(t.Context(), db.Owner, checks)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(fixes, func(f Fixed) bool { return f.Check == "sweeps" })
	if i < 0 || !strings.Contains(fixes[i].Error, "core.nothing()") {
		t.Errorf("a sweep that fails again: %+v", fixes)
	}

	// An ordinary login may not: that is said of each line, and none stops the others.
	fixes, _, err = Fix(t.Context(), db.Pool, []Check{{Name: "a", Fix: []string{"select core.run_sweep('reap');", "select core.tick();"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(fixes) < 2 || !strings.Contains(fixes[0].Error, "permission denied") || fixes[1].Error != "" {
		t.Errorf("%+v", fixes)
	}
}

// Nothing that removes, ends or overrides is done unasked.
// holds: doctor-fix
func TestFixLeavesToPeopleWhatIsTheirs(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("select core.tick()")
	db.Exec("create publication everything for all tables")
	db.Exec("update core_private.sweeps set enabled = false where name = 'reap'")
	db.Exec("select core.create_namespace('shop')")
	db.Exec("select core.create_namespace('till')")
	db.Exec("alter table pgmq.q_core_events_till force row level security") // refuses emits, and hides what is there
	db.Exec("select core.emit('shop', 'a')")
	db.Exec("select pgmq.read('core_events_shop', 100000, 1)")
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason)
		values ('shop', 'delivery', '{}', '{}', 1, core.now(), 'x')`)
	db.Exec(`insert into cron.job (schedule, command, database, username, active, jobname)
		values ('0 0 1 1 *', 'select 1', 'elsewhere', 'a_role_that_left', false, 'yearly')`)
	db.Exec("create or replace function core.now() returns timestamptz language sql as 'select now()'")
	checks := examine(t, db.Owner)
	for _, name := range []string{"schema", "pg_cron jobs", "sweeps", "dead letters", "queue tables", "publications", "stuck leases"} {
		if c := named(t, checks, name); c.State == OK {
			t.Errorf("the harm goes unnoticed: %+v", c)
		}
	}
	if fixes := Fixes(checks); len(fixes) > 0 {
		t.Errorf("%+v", fixes)
	}
}

// holds: doctor-fix
func TestFixJobs(t *testing.T) {
	db := dbtest.Cron(t)
	db.Exec("select core.sync_cron_jobs()")
	defer db.Exec("select core.sync_cron_jobs()")
	db.Exec("select cron.unschedule(jobid) from cron.job where jobname = 'nexus:retention'")
	c := named(t, examine(t, db.Owner), jobs)
	if fixes, _, err := Fix(t.Context(), db.Owner, []Check{c}); err != nil || len(fixes) == 0 || !strings.Contains(fixes[0].Result, `"nexus:retention"`) {
		t.Errorf("%+v %v", fixes, err)
	}
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Errorf("%+v", c)
	}
	db.Exec("select cron.alter_job(jobid, active := false) from cron.job where jobname = 'nexus:retention'")
	if c := named(t, examine(t, db.Owner), jobs); c.State != Warn || !strings.Contains(c.Found, "deactivated") || len(c.Fix) == 0 {
		t.Errorf("somebody switched it off: %+v", c)
	}
	db.Exec("select core.sync_cron_jobs()")
	db.Exec("select cron.schedule('theirs', '0 0 1 1 *', 'select core.tick()')")
	defer db.Exec("select cron.unschedule('theirs')")
	if c := named(t, examine(t, db.Owner), jobs); c.State != Warn || len(c.Fix) > 0 {
		t.Errorf("somebody else's job: %+v", c)
	}
}
