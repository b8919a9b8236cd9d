package cronsync_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cronsync"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// cronDB is the database in which pg_cron fires, in step.
func cronDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.Cron(t)
	apply(t, db)
	db.Namespace("shop")
	return db
}

func apply(t *testing.T, db *dbtest.DB) []cronsync.Drift {
	t.Helper()
	done, err := cronsync.Apply(t.Context(), db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func diff(t *testing.T, db *dbtest.DB) []cronsync.Drift {
	t.Helper()
	drift, err := cronsync.Diff(t.Context(), db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	return drift
}

// pg_cron runs what was mended: the job was gone, and its task fires.
// holds: S12-cron
func TestAJobThatWasMendedFires(t *testing.T) {
	db := cronDB(t)
	id := dbtest.Get[uuid.UUID](db, `select core.schedule_task('shop', 'often', '* * * * *', 'x')`)
	job := dbtest.Get[int64](db, `select job_id from core.scheduled_tasks where task_id = $1`, id)
	db.Exec(`select cron.unschedule(jobid) from cron.job where jobid = $1`, job)
	want := []cronsync.Drift{{Kind: cronsync.Missing, JobName: "shop:" + strings.ReplaceAll(id.String(), "-", ""), TaskID: id, Namespace: "shop", Detail: "pg_cron has no such job"}}
	if d := cmp.Diff(want, diff(t, db)); d != "" {
		t.Error(d)
	}
	begin := time.Now()
	want[0].Done = cronsync.Mended
	if d := cmp.Diff(want, apply(t, db)); d != "" {
		t.Error(d)
	}
	if d := diff(t, db); len(d) > 0 {
		t.Errorf("after it was mended: %+v", d)
	}
	waitLong(t, db, `select exists (select from core.cron_job_runs where task_id = $1 and status = 'succeeded' and start_time >= $2)`, id, begin)
	if n := dbtest.Get[int](db, `select count(*) from core.task_slots where task_id = $1 and status = 'fired'`, id); n == 0 {
		t.Error("pg_cron ran the job, and the task has not fired")
	}
}

// waitLong waits for pg_cron's next minute, which Wait may not see the end of.
func waitLong(t *testing.T, db *dbtest.DB, sql string, args ...any) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !dbtest.Get[bool](db, sql, args...) {
		if time.Now().After(deadline) {
			t.Fatalf("not true after three minutes: %s", sql)
		}
		<-tick.C
	}
}

// The sweep mends without being asked.
// holds: S12-cron
func TestTheTickMends(t *testing.T) {
	db := cronDB(t)
	db.Exec(`select core.schedule_task('shop', 'daily', '@daily', 'x')`)
	db.Exec(`update cron.job set active = false where jobid = (select job_id from core.scheduled_tasks)`)
	db.Exec(`update core_private.sweeps set last_started_at = null where name = 'cron'`)
	db.Wait(`select core.tick() ? 'ran'`) // one beside pg_cron's own, which may be too far to mend, leaves at once
	db.Wait(`select active from cron.job where jobid = (select job_id from core.scheduled_tasks)`)
	if d := diff(t, db); len(d) > 0 {
		t.Errorf("%+v", d)
	}
}

// A task that is paused, renamed or deleted by plain SQL leaves no job that could fire, whatever was in the way of its trigger.
// holds: S12-cron, others-gone-tasks
func TestWhatTriggersDidNotSee(t *testing.T) {
	db := cronDB(t)
	db.Exec(`insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) select 'shop', n, '@daily', 'x' from unnest('{paused,deleted,renamed}'::text[]) n`)
	if n := dbtest.Get[int](db, `select count(*) from core.cron_jobs where namespace = 'shop'`); n != 3 {
		t.Fatalf("%d jobs of three tasks", n)
	}
	// As a replica's apply process writes: without triggers.
	db.Exec(`set session_replication_role = replica; update core.scheduled_tasks set active = false where name = 'paused';
		delete from core.scheduled_tasks where name = 'deleted'; update core.scheduled_tasks set name = 'new name' where name = 'renamed'; reset session_replication_role`)
	var kinds []string
	for _, d := range apply(t, db) {
		kinds = append(kinds, string(d.Kind)+" "+d.Done+" "+d.Detail)
	}
	slices.Sort(kinds)
	if d := cmp.Diff([]string{"orphaned mended its task is gone", "orphaned mended its task is paused"}, kinds); d != "" {
		t.Error(d)
	}
	if d := diff(t, db); len(d) > 0 {
		t.Errorf("%+v", d)
	}
	if got := dbtest.Get[string](db, `select string_agg(t.name, ',') from core.cron_jobs j left join core.scheduled_tasks t using (task_id) where j.namespace = 'shop'`); got != "new name" {
		t.Errorf("jobs of: %s", got)
	}
}

// Somebody who holds the task keeps its job in step himself: nobody waits for him, and nobody undoes what he does.
// holds: S12-cron
func TestATaskThatSomebodyHolds(t *testing.T) {
	db := cronDB(t)
	db.Exec(`select core.schedule_task('shop', 'daily', '@daily', 'x')`)
	db.Exec(`delete from cron.job where jobid = (select job_id from core.scheduled_tasks)`)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `update core.scheduled_tasks set cron_expression = '@hourly'`); err != nil {
		t.Fatal(err)
	}
	done := apply(t, db)
	if len(done) != 1 || done[0].Done != cronsync.NamedOnly || !strings.Contains(done[0].Detail, "somebody is changing") {
		t.Errorf("%+v", done)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, `select string_agg(schedule, ',') from core.cron_jobs where namespace = 'shop'`); got != "0 * * * *" {
		t.Errorf("jobs: %s", got)
	}
	if d := diff(t, db); len(d) > 0 {
		t.Errorf("%+v", d)
	}
}

// Many at once: one mends, and each job is there once.
// holds: S12-cron
func TestManyApply(t *testing.T) {
	db := cronDB(t)
	db.Exec(`insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) select 'shop', 't' || g, '@daily', 'x' from generate_series(1, 10) g`)
	db.Exec(`delete from cron.job where jobname like 'shop:%'`)
	failures := make(chan error)
	mended := make(chan int)
	const callers = 6
	for range callers {
		go func() {
			done, err := cronsync.Apply(t.Context(), db.Owner)
			failures <- err
			mended <- len(done)
		}()
	}
	total := 0
	for range callers {
		if err := <-failures; err != nil {
			t.Error(err)
		}
		total += <-mended
	}
	if jobs := dbtest.Get[int](db, `select count(*) from core.cron_jobs where namespace = 'shop'`); total != 10 || jobs != 10 {
		t.Errorf("%d mended, %d jobs", total, jobs)
	}
	if d := diff(t, db); len(d) > 0 {
		t.Errorf("%+v", d)
	}
}

func TestWithoutPgCron(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("drop extension if exists pg_cron cascade")
	if d := append(diff(t, db), apply(t, db)...); len(d) > 0 {
		t.Errorf("%+v", d)
	}
}

func TestWhoMayApply(t *testing.T) {
	db := dbtest.New(t)
	if _, err := cronsync.Apply(t.Context(), db.Pool); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("a node's login: %v", err)
	}
	if !dbtest.Get[bool](db, "select exists (select from pg_extension where extname = 'pg_cron')") {
		return
	}
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "set role nexus_reader"); err != nil {
		t.Fatal(err)
	}
	drift, err := cronsync.Diff(t.Context(), conn)
	if err != nil || !slices.ContainsFunc(drift, func(d cronsync.Drift) bool { return d.Kind == cronsync.NotVisible }) {
		t.Errorf("a reader is told %+v, %v", drift, err)
	}
}
