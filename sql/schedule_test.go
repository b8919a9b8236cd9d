package nexussql_test

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// S2: ten thousand tasks that are due in one minute fire in one tick, also with a namespace that is broken and after a week. What it
// takes is logged, and is a second or two on two free cores; the bound is for machines that do ten other things.
// holds: S2, others-many-tasks
func TestTenThousandTasksInOneMinute(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const tasks, namespaces, bound = 10_000, 20, 30 * time.Second
	db := dbtest.New(t)
	db.SetNow(time.Date(2026, 12, 1, 12, 0, 30, 0, time.UTC))
	db.Exec(`select core.create_namespace('n' || g) from generate_series(1, $1::int) g`, namespaces)
	db.Exec(`insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, payload, timezone)
		select 'n' || 1 + g % $2::int, 'task ' || g, (array['* * * * *', '*/5 * * * *', '1 * * * *', '1 12 * * *'])[1 + g % 4], 'x.' || g % 50,
		       jsonb_build_object('n', g, 'note', repeat('x', 200)), (array['UTC', 'Europe/Berlin', 'America/New_York'])[1 + g % 3] from generate_series(1, $1::int) g`, tasks, namespaces)
	db.Exec(`analyze core.scheduled_tasks`)
	due := func(what, at string, want int) {
		t.Helper()
		// All of them, whatever their expressions say.
		db.Exec(`update core.scheduled_tasks set next_slot = $1, next_run_at = $1`, at)
		began := time.Now()
		fired := dbtest.Get[int](db, `select core_private.fire_tasks(20000)`)
		took := time.Since(began)
		t.Logf("%s: %d events in %s", what, fired, took.Round(time.Millisecond))
		if fired != want || took > bound {
			t.Errorf("%s: %d events in %s, want %d in %s", what, fired, took, want, bound)
		}
	}
	due("all due", "2026-12-01T12:00:00Z", tasks)
	due("again", "2026-12-01T12:00:10Z", tasks)
	db.Exec(`drop table pgmq.q_core_events_n7`)
	due("one namespace broken", "2026-12-01T12:00:20Z", tasks-tasks/namespaces)
	if n := dbtest.Get[int](db, `select count(*) from core.scheduled_tasks where failures = 1 and namespace = 'n7'`); n != tasks/namespaces {
		t.Errorf("%d tasks of the broken namespace say so, want %d", n, tasks/namespaces)
	}
	db.Exec(`delete from core.scheduled_tasks where namespace = 'n7'`)
	db.Advance(7 * 24 * time.Hour)
	// Of every minute the last two slots fire, since they are only late, of the others the newest one.
	due("a week asleep", "2026-12-01T12:00:25Z",
		tasks-tasks/namespaces+dbtest.Get[int](db, `select count(*) from core.scheduled_tasks where cron_expression = '* * * * *'`))
}
