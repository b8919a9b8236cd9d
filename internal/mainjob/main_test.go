package mainjob_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/mainjob"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func as(db *dbtest.DB) mainjob.As { return mainjob.As{Node: db.URL, Operate: db.OwnerURL} }

func TestTheMainJob(t *testing.T) {
	db := dbtest.New(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	j, err := mainjob.Start(t.Context(), as(db))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Round(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := j.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A job that sees nothing would pass everywhere.
func TestTheMainJobSeesDoubles(t *testing.T) {
	db := dbtest.New(t)
	j, err := mainjob.Start(t.Context(), as(db))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(`create function public.again() returns trigger language plpgsql as $$ begin
			insert into pgmq.q_core_events_` + string(j.Namespace) + ` (vt, message, headers) values (new.vt, new.message, new.headers);
			return null;
		end $$;
		create trigger again after insert on pgmq.q_core_events_` + string(j.Namespace) + ` for each row
			when (pg_trigger_depth() = 0 and new.message ->> 'eventType' = 'leased') execute function public.again()`)
	if err := j.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "leased") {
		t.Errorf("all leased events were delivered twice: %v", err)
	}
	if err := j.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
