package doctor

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
)

const jobs = "pg_cron jobs"

func TestJobsOfARoleThatIsGone(t *testing.T) {
	db := dbtest.New(t)
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Fatalf("before anything is wrong: %+v", c)
	}
	db.Exec(`insert into cron.job (schedule, command, database, username, active, jobname)
		values ('0 0 1 1 *', 'select 1', 'elsewhere', 'a_role_that_left', false, 'yearly')`)
	c := named(t, examine(t, db.Owner), jobs)
	if c.State != Broken || !strings.Contains(c.Found, "'yearly' of a_role_that_left") {
		t.Fatalf("%+v", c)
	}
	db.Exec(c.Mend)
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Errorf("after the line that mends it: %+v", c)
	}
}

// holds: doctor-unseen
func TestJobsAreNotVisibleToAll(t *testing.T) {
	db := dbtest.New(t)
	if c := named(t, examine(t, db.Pool), jobs); c.State != Unknown || !strings.Contains(c.Found, "not visible") {
		t.Errorf("who is no reader: %+v", c)
	}
	db = dbtest.Cron(t)
	db.Exec("select core.sync_cron_jobs()")
	reader, err := pgxpool.New(t.Context(), db.Keep())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if c := named(t, examine(t, reader), jobs); c.State != Unknown || !strings.Contains(c.Found, "not visible") {
		t.Errorf("a reader: %+v", c)
	}
}

func TestJobsOfNexusThatAreMissing(t *testing.T) {
	db := dbtest.Cron(t)
	db.Exec("select core.sync_cron_jobs()")
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Fatalf("before anything is wrong: %+v", c)
	}
	defer db.Exec("select core.sync_cron_jobs()")
	db.Exec("select cron.unschedule(jobid) from cron.job where jobname = 'nexus:retention'")
	if c := named(t, examine(t, db.Owner), jobs); c.State != Warn || !strings.Contains(c.Found, "nexus:retention") {
		t.Errorf("%+v", c)
	}
}

func TestJudgeLoad(t *testing.T) {
	for _, c := range []struct {
		workers       bool
		active, limit int
		want          State
	}{{false, 32, 32, OK}, {false, 33, 32, Warn}, {true, 33, 5, OK}} {
		if got := judgeLoad(c.workers, c.active, c.limit, nil); got.state != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A job that runs once a day is not complained of all day because the server was restarted under it.
func TestARestartIsOverOnceAnyJobHasRun(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("delete from cron.job_run_details") // of what the database was copied from
	const run = `insert into cron.job_run_details (jobid, runid, status, return_message, username)
		select jobid, $1::int, $2::text, $3::text, 'nexus_scheduler' from cron.job where jobname = $4::text`
	db.Exec(run, 1, "failed", "server restarted", "nexus:job_run_details")
	if got := named(t, examine(t, db.Owner), "pg_cron runs"); got.State != Warn {
		t.Errorf("before anything has run: %+v", got)
	}
	db.Exec(run, 2, "succeeded", "1 row", "nexus:tick")
	if got := named(t, examine(t, db.Owner), "pg_cron runs"); got.State != OK {
		t.Errorf("after that: %+v", got)
	}
	db.Exec(run, 3, "failed", "ERROR: boom", "nexus:job_run_details")
	db.Exec(run, 4, "succeeded", "1 row", "nexus:tick")
	if got := named(t, examine(t, db.Owner), "pg_cron runs"); got.State != Warn {
		t.Errorf("of its own failure: %+v", got)
	}
}

// What somebody gave nexus_scheduler to run is his, whatever it is called; what calls a function of core is a leftover of Nexus's.
func TestJobsThatAreNotNexuss(t *testing.T) {
	db := dbtest.New(t)
	add := func(name, command string) {
		db.Exec(`insert into cron.job (schedule, command, database, username, active, jobname) values ('0 0 1 1 *', $1, current_database(), 'nexus_scheduler', true, $2)`, command, name)
	}
	add("nexus:report", "select score.of_the_month()")
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Errorf("somebody's own: %+v", c)
	}
	add("nexus:old", "select core.run_sweep('old')")
	c := named(t, examine(t, db.Owner), jobs)
	if c.State != Warn || !strings.Contains(c.Found, "nexus:old is orphaned: Nexus has no such job") || strings.Contains(c.Found, "report") {
		t.Fatalf("a leftover: %+v", c)
	}
	db.Exec(c.Mend)
	if c := named(t, examine(t, db.Owner), jobs); c.State != OK {
		t.Errorf("after the line that mends it: %+v", c)
	}
}
