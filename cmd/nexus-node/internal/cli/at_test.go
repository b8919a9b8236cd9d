package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

type done struct {
	ID    string `json:"schedule_id"`
	State string `json:"state"`
}

type scheduled struct {
	ID      string    `json:"schedule_id"`
	Type    string    `json:"event_type"`
	Status  string    `json:"status"`
	FireAt  time.Time `json:"fire_at"`
	EventID *int64    `json:"event_id"`
}

// holds: not-yet-refused
func TestAtSchedule(t *testing.T) {
	db, s := asProducer(t)
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	db.SetNow(start)
	const id = "019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55"
	all := []string{
		"at", "schedule", "bill.due", `{"n": 1}`, "--at", "2030-01-01T02:00:00+01:00", "--id", id, "--tag", "t", "--header", "h=1",
		"--ordering-key", "o", "--producer", "p", "--correlation-id", "c", "--causation-uid", id, "--authored-at", "2029-12-31T00:00:00Z",
	}
	for range 2 {
		if d := cmp.Diff(done{id, "scheduled"}, okJSON[done](s, all...)); d != "" {
			t.Error(d)
		}
	}
	s.fails(exitUsage, []string{"code: NX005", "field: --broadcast"}, "emit", "x", "--broadcast", "--delay", "1h")
	later := okJSON[done](s, "at", "schedule", "later", "--in", "90m")
	if at := dbtest.Get[time.Time](db, `select fire_at from core.scheduled_events where schedule_id = $1`, later.ID); !at.Equal(start.Add(90 * time.Minute)) {
		t.Errorf("--in 90m is %s", at)
	}
	db.Advance(time.Hour)
	db.Exec(`select core.fire_due_events()`)
	const want = `{"n": 1} {t} {"h": "1"} o p c 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 2029-12-31 00:00:00+00`
	if got := dbtest.Get[string](db, `select concat_ws(' ', l.payload, l.tags, l.headers, ordering_key, producer_node_id, correlation_id, causation_uid, authored_at) from core.event_log l join pgmq.q_core_events_shop q on q.message ->> 'eventUid' = event_uid::text where event_uid = $1`, id); got != want {
		t.Errorf("the event is\n%s, want\n%s", got, want)
	}
	for what, args := range map[string]string{
		"no time":   "at schedule x",
		"two":       "at schedule x --at 2030-01-01T00:00:00Z --in 1h",
		"no offset": "at schedule x --at 2030-01-01T00:00:00",
		"no uuid":   "at schedule x --in 1h --id 7",
		"past end":  "at schedule x --at 9999-01-01T00:00:00Z",
	} {
		if r := s.run(strings.Fields(args)...); r.code != exitUsage {
			t.Errorf("%s: exit code %d: %s", what, r.code, r.errors)
		}
	}
	s.fails(exitFailed, []string{"NX209"}, "at", "schedule", "other", "--in", "1h", "--id", id)
}

func TestAtListAndChange(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Namespace("mall")
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	db.SetNow(start)
	add := func(ns, eventType, in string) string {
		return okJSON[done](s, "at", "schedule", "-n", ns, eventType, "--in", in).ID
	}
	second, first, third := add("shop", "a.b", "2h"), add("shop", "a.c", "1h"), add("mall", "b", "3h")
	list := func(flags string) string {
		var types []string
		for _, e := range okJSON[[]scheduled](s, append([]string{"at", "list"}, strings.Fields(flags)...)...) {
			types = append(types, e.Type)
		}
		return strings.Join(types, " ")
	}
	for flags, want := range map[string]string{
		"": "a.c a.b b", "-n shop": "a.c a.b", "--type a.*": "a.c a.b", "--type b": "b", "--type *": "a.c a.b b", "--limit 1": "a.c", "--status failed": "",
	} {
		if got := list(flags); got != want {
			t.Errorf("at list %s shows %q, want %q", flags, got, want)
		}
	}
	s.fails(exitUsage, []string{"nope"}, "at", "list", "--status", "nope")

	check := func(want done, args ...string) {
		t.Helper()
		if d := cmp.Diff(want, okJSON[done](s, args...)); d != "" {
			t.Errorf("%v: %s", args, d)
		}
	}
	check(done{second, "would be cancelled"}, "at", "cancel", second, "--dry-run")
	check(done{third, "would be rescheduled"}, "at", "reschedule", third, "--in", "30m", "--dry-run")
	if got := list(""); got != "a.c a.b b" {
		t.Errorf("after dry runs there is %q", got)
	}
	check(done{second, "cancelled"}, "at", "cancel", second)
	check(done{third, "rescheduled"}, "at", "reschedule", third, "--in", "30m")
	s.fails(exitNotFound, []string{"no pending event", "at show"}, "at", "cancel", second)
	s.fails(exitNotFound, nil, "at", "reschedule", second, "--in", "1h")
	if got := list(""); got != "b a.c" {
		t.Errorf("left is %q", got)
	}
	db.Advance(time.Hour)
	db.Exec(`select core.fire_due_events()`)
	s.fails(exitFailed, []string{"already emitted"}, "at", "cancel", first)
	s.fails(exitFailed, []string{"already emitted"}, "at", "reschedule", first, "--at", "2030-02-01T00:00:00Z")
	if got := list("--status appended"); got != "b a.c" {
		t.Errorf("emitted are %q", got)
	}
	shown := okJSON[scheduled](s, "at", "show", first)
	if shown.Status != "appended" || shown.EventID == nil || !shown.FireAt.Equal(start.Add(time.Hour)) {
		t.Errorf("at show says %+v", shown)
	}
	s.fails(exitNotFound, nil, "at", "show", "019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55")
	for _, verb := range []string{"show 7", "cancel 7", "reschedule 7 --in 1h", "reschedule " + first} {
		s.fails(exitUsage, nil, append([]string{"at"}, strings.Fields(verb)...)...)
	}
}
