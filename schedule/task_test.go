package schedule_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

func TestATaskByName(t *testing.T) {
	db := newDB(t)
	db.SetNow(time.Date(2030, 1, 1, 12, 0, 30, 0, time.UTC))
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		task := schedule.Task{
			Namespace: ns, Name: "close-day", Cron: "30 2 * * 7", Zone: "europe/berlin", Type: "day.closed", Payload: map[string]int{"a": 1},
			Misfire: schedule.BackfillMissed, MisfireAfter: time.Minute, Backfill: 3, Overlap: schedule.QueueOne, Jitter: 10 * time.Second,
			StartsAt: time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC), EndsAt: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		id, err := schedule.ScheduleTask(t.Context(), q, task)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := schedule.ScheduleTask(t.Context(), q, task); err != nil || again != id {
			t.Errorf("the same again: %s, %v; want %s", again, err, id)
		}
		got := dbtest.Get[string](db, `select format('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s', cron_expression, timezone, event_type, payload, misfire, misfire_after, backfill, overlap, jitter,
			starts_at at time zone 'UTC', ends_at at time zone 'UTC') from core.scheduled_tasks where task_id = $1`, id)
		want := `30 2 * * 0|Europe/Berlin|day.closed|{"a": 1}|backfill|00:01:00|3|queue_one|00:00:10|2030-02-01 00:00:00|2031-01-01 00:00:00`
		if got != want {
			t.Errorf("stored\n%s, want\n%s", got, want)
		}
		if err := schedule.PauseTask(t.Context(), q, ns, "close-day"); err != nil {
			t.Error(err)
		}
		if err := schedule.RunTaskNow(t.Context(), q, ns, "close-day"); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("a paused task runs: %v", err)
		}
		if err := schedule.ResumeTask(t.Context(), q, ns, "close-day"); err != nil {
			t.Error(err)
		}
		if err := schedule.RunTaskNow(t.Context(), q, ns, "close-day"); err != nil {
			t.Error(err)
		}
		if n := dbtest.Get[int](db, "select count(*)::int from core.task_runs where task_id = $1", id); n != 1 {
			t.Errorf("%d runs", n)
		}
		week := time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC) // the task's first
		if n, err := schedule.BackfillTask(t.Context(), q, ns, "close-day", week, week.AddDate(0, 0, 7)); err != nil || n != 0 {
			t.Errorf("backfill of what is to come: %d, %v", n, err)
		}
		if _, err := schedule.BackfillTask(t.Context(), q, ns, "close-day", week, week); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("backfill of nothing: %v", err)
		}
		if err := schedule.DeleteTask(t.Context(), q, ns, "close-day"); err != nil {
			t.Error(err)
		}
		if err := schedule.DeleteTask(t.Context(), q, ns, "close-day"); !errors.Is(err, nexus.ErrNotFound) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

func TestARefusedTaskNamesItsField(t *testing.T) {
	db := newDB(t)
	fine := schedule.Task{Namespace: ns, Name: "a", Cron: "* * * * *", Type: "x"}
	for field, change := range map[string]func(*schedule.Task){
		"p_cron_expression": func(t *schedule.Task) { t.Cron = "* * * * 8" },
		"timezone":          func(t *schedule.Task) { t.Zone = "CET" },
		"misfire":           func(t *schedule.Task) { t.Misfire = "never" },
		"backfill":          func(t *schedule.Task) { t.Misfire, t.Backfill = schedule.BackfillMissed, 101 },
		"overlap":           func(t *schedule.Task) { t.Overlap = "maybe" },
		"jitter":            func(t *schedule.Task) { t.Jitter = -time.Second },
		"p_payload":         func(t *schedule.Task) { t.Payload = json.RawMessage(`{"a": 1e999}`) },
	} {
		task := fine
		change(&task)
		_, err := schedule.ScheduleTask(t.Context(), db.Pool, task)
		var e *nexus.Error
		if !errors.As(err, &e) || e.Field != field || e.Hint == "" || !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("%s: %v, field %q", field, err, e.Field)
		}
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.scheduled_tasks"); n != 0 {
		t.Errorf("%d tasks are stored", n)
	}
}

// holds: S12
func TestDeclaredTasksAreApplied(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		if _, err := schedule.ScheduleTask(t.Context(), q, schedule.Task{Namespace: ns, Name: "by-hand", Cron: "* * * * *", Type: "x"}); err != nil {
			t.Fatal(err)
		}
		d := schedule.Declared{Owner: "billing", Tasks: []schedule.Task{
			{Namespace: ns, Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"},
			{Namespace: ns, Name: "ping", Cron: "@every 90s", Type: "ping", Jitter: time.Second},
		}}
		created := []schedule.Change{{Task: "shop/close-day", Action: "create", To: "30 2 * * *"}, {Task: "shop/ping", Action: "create", To: "@every 90s"}}
		apply := func(dryRun bool, want []schedule.Change) {
			t.Helper()
			got, err := d.Apply(t.Context(), q, dryRun)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("changes (-want +got)\n%s", diff)
			}
		}
		apply(true, created)
		apply(false, created)
		apply(false, []schedule.Change{})
		d.Tasks = d.Tasks[1:]
		d.Tasks[0].Zone = "Asia/Tokyo"
		apply(false, []schedule.Change{{Task: "shop/close-day", Action: "delete", From: "30 2 * * *"}, {Task: "shop/ping", Action: "change", Field: "timezone", From: "UTC", To: "Asia/Tokyo"}})
		d.Tasks[0].Cron = "x"
		var e *nexus.Error
		if _, err := d.Apply(t.Context(), q, false); !errors.As(err, &e) || e.Code != nexus.CodeCron || e.Field != "p_tasks[1].cron_expression" {
			t.Errorf("a bad expression: %v, field %q", err, e.Field)
		}
		d.Tasks = nil
		apply(false, []schedule.Change{{Task: "shop/ping", Action: "delete", From: "@every 90s"}})
		if n := dbtest.Get[int](db, "select count(*)::int from core.scheduled_tasks"); n != 1 {
			t.Errorf("%d tasks are left, want the one made by hand", n)
		}
	})
}
