package schedule_test

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

type bill struct{ Cents int }

const billDue nexus.EventType[bill] = "bill.due"

// The typed forms store what the others would.
func TestTypedForms(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	if _, err := schedule.ScheduleEventT(t.Context(), db.Pool, ns, billDue, bill{700}, db.Now().Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, `select event_type || ' ' || payload from core.scheduled_events`); got != `bill.due {"Cents": 700}` {
		t.Errorf("scheduled %s", got)
	}
	task := schedule.TaskOf(billDue, bill{900}, schedule.Task{Namespace: ns, Name: "monthly", Cron: "@monthly", Zone: "Europe/Berlin", Type: "another", Payload: 1})
	if _, err := (schedule.Declared{Owner: "billing", Tasks: []schedule.Task{task}}).Apply(t.Context(), db.Pool, false); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, `select concat_ws(' ', name, event_type, payload, timezone) from core.scheduled_tasks`); got != `monthly bill.due {"Cents": 900} Europe/Berlin` {
		t.Errorf("declared %s", got)
	}
}
