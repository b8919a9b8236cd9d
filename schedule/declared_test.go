package schedule_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/schedule"
)

// Words of Go, and each thing said once.
func TestDeclaredIsRefusedInItsOwnWords(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	tasks := []schedule.Task{{Namespace: ns, Name: "overdue", Cron: "@every 90s", Type: "x"}}
	var e *nexus.Error
	if _, err := (schedule.Declared{Tasks: tasks}).Apply(t.Context(), db.Pool, false); !errors.As(err, &e) || e.Field != "Declared.Owner" ||
		!errors.Is(err, nexus.ErrInvalid) || strings.Contains(err.Error(), "p_owner") {
		t.Errorf("no owner: %v", err)
	}
	if _, err := (schedule.Declared{Owner: "a", Tasks: tasks}).Apply(t.Context(), db.Pool, false); err != nil {
		t.Fatal(err)
	}
	if _, err := (schedule.Declared{Owner: "b", Tasks: tasks}).Apply(t.Context(), db.Pool, false); !errors.Is(err, nexus.ErrConflict) ||
		strings.Count(err.Error(), "task 'overdue'") != 1 || strings.Contains(err.Error(), "option") {
		t.Errorf("the task of another: %v", err)
	}
}

func TestWhatIsDeclaredIsLoggedWithoutEmptyFields(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log strings.Builder
	d := schedule.Declared{Owner: "a", Tasks: []schedule.Task{{Name: "overdue", Cron: "@every 90s", Type: "x"}}}
	if err := d.Declare(t.Context(), &svc.Host{Namespace: ns, Own: db.Pool, Logger: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, "task=shop/overdue") || strings.Contains(got, `=""`) || strings.Contains(got, "field=") {
		t.Error(got)
	}
}
