package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

type receipt struct {
	EventID   int64  `json:"event_id"`
	EventUID  string `json:"event_uid"`
	MessageID *int64 `json:"message_id"`
	Duplicate bool   `json:"duplicate"`
}

// A producer's login is enough to emit.
func asProducer(t *testing.T) (*dbtest.DB, *shell) {
	t.Helper()
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.DatabaseURL, s.cfg.Namespace = db.URL, "shop"
	return db, s
}

func TestPayloads(t *testing.T) {
	db, s := asProducer(t)
	const digits = `{"n": 12345678901234567890}`
	file := filepath.Join(t.TempDir(), "payload.json")
	if err := os.WriteFile(file, []byte(digits), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		stdin string
		args  []string
		want  string
	}{
		{"an argument", "ignored", []string{digits}, digits},
		{"none", "ignored", nil, "{}"},
		{"a dash", digits, []string{"-"}, digits},
		{"--file -", digits, []string{"--file", "-"}, digits},
		{"--file", "ignored", []string{"--file", file}, digits},
	} {
		r := s.runWith(c.stdin, append([]string{"emit", "-o", "json", "a.b"}, c.args...)...)
		if r.code != exitOK {
			t.Errorf("%s: %s", c.what, r.errors)
			continue
		}
		var got receipt
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatal(err)
		}
		if p := dbtest.Get[string](db, "select payload::text from core.event_log where event_id = $1", got.EventID); p != c.want {
			t.Errorf("%s: the payload is %s", c.what, p)
		}
	}
	s.fails(exitUsage, []string{"code: NX003", "field: "}, "emit", "a.b", "{bad")
	s.fails(exitUsage, []string{"code: NX003"}, "emit", "a.b", "-") // stdin is empty
	s.fails(exitFailed, []string{"no such file"}, "emit", "a.b", "--file", file+"x")
	s.fails(exitUsage, []string{"code: NX002"}, "emit", "a b")
	s.fails(exitNotFound, []string{"code: NX101", "field: --namespace", "hint: "}, "emit", "-n", "nowhere", "a.b")
}

func TestEmitOptions(t *testing.T) {
	db, s := asProducer(t)
	r := okJSON[receipt](s, "emit", "a.b",
		"--dedupe-key", "k", "--ordering-key", "o", "--header", "x=1=2", "--header", "y=", "--producer", "me", "--correlation-id", "c",
		"--causation-uid", "019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55", "--authored-at", "2026-01-02T03:04:05+02:00", "--tag", "t,1", "--tag", "t2")
	got := dbtest.Get[string](db, `select jsonb_build_array(ordering_key, headers, producer_node_id, correlation_id, causation_uid,
		authored_at at time zone 'UTC', tags)::text from core.event_log where event_id = $1`, r.EventID)
	want := `["o", {"x": "1=2", "y": ""}, "me", "c", "019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55", "2026-01-02T01:04:05", ["t,1", "t2"]]`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if again := okJSON[receipt](s, "emit", "a.b", "--dedupe-key", "k"); !again.Duplicate || again.EventID != r.EventID {
		t.Errorf("the second event with the key is %+v", again)
	}
	if later := okJSON[receipt](s, "emit", "a.b", "--delay", "90s"); later.MessageID != nil {
		t.Errorf("a delayed event has message %d", *later.MessageID)
	}
	if n := dbtest.Get[int](db, "select count(*) from core.delayed where due_at between core.now() + '80s' and core.now() + '90s'"); n != 1 {
		t.Errorf("%d events are delayed by 90 s", n)
	}
}

func TestEventsShow(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	r := okJSON[receipt](s, "emit", "a.b", `{"n": 1}`)
	for _, key := range []string{fmt.Sprint(r.EventID), r.EventUID} {
		out := s.ok("events", "show", key)
		for _, want := range []string{"a.b", `{"n":1}`, r.EventUID} {
			if !strings.Contains(out, want) {
				t.Errorf("events show %s does not show %s:\n%s", key, want, out)
			}
		}
	}
	s.fails(exitNotFound, []string{"no event"}, "events", "show", "999999")
	s.fails(exitNotFound, []string{"no event"}, "events", "show", "019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55")
}
