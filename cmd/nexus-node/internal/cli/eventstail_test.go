package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// tailed reads the event types that a tail prints.
type tailed struct {
	t     *testing.T
	lines chan string
}

func (l *tailed) next() string {
	l.t.Helper()
	select {
	case line := <-l.lines:
		var e struct {
			Type string `json:"event_type"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			l.t.Fatalf("no JSON line: %v\n%s", err, line)
		}
		return e.Type
	case <-time.After(time.Minute):
		l.t.Fatal("nothing is printed")
		return ""
	}
}

func tailing(t *testing.T, db *dbtest.DB, args ...string) (*tailed, func() (int, string)) {
	t.Helper()
	cmd, stdout, stderr := process(t, []string{"NEXUS_DATABASE_URL=" + db.OwnerURL},
		append([]string{"events", "tail", "-o", "json", "--interval", "20ms"}, args...)...)
	lines := make(chan string, 1000)
	go func() {
		in := bufio.NewScanner(stdout)
		for in.Scan() {
			lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, stdout)
	}()
	return &tailed{t, lines}, func() (int, string) {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		return ends(t, cmd), stderr.String()
	}
}

// begin opens a transaction and emits an event in it, below a savepoint if so asked.
func begin(t *testing.T, db *dbtest.DB, eventType string, savepoint bool) pgx.Tx {
	t.Helper()
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if savepoint {
		if _, err := tx.Exec(t.Context(), "savepoint s"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec(t.Context(), "select core.emit('shop', $1)", eventType); err != nil {
		t.Fatal(err)
	}
	return tx
}

func end(t *testing.T, tx pgx.Tx) {
	t.Helper()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Events come when they are committed, each once, whatever the order of their ids and times, and what was emitted below a
// savepoint, too.
func TestTailFollowsCommits(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'before')")
	early := begin(t, db, "open.at.the.start", true)
	lines, stop := tailing(t, db)
	db.Wait("select exists (select from pg_stat_activity where datname = current_database() and application_name = 'nexus-node events tail')")
	// Whether it has begun is seen from what it prints.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for printed := false; !printed; {
		db.Exec("select core.emit('shop', 'hello')")
		select {
		case <-lines.lines:
			printed = true
		case <-tick.C:
		}
	}
	expect := func(want string) {
		t.Helper()
		got := lines.next()
		for got == "hello" {
			got = lines.next()
		}
		if got != want {
			t.Fatalf("printed %s, want %s", got, want)
		}
	}
	late, below := begin(t, db, "late", false), begin(t, db, "late.below.a.savepoint", true)
	db.Exec("select core.emit('shop', 'on.time')")
	expect("on.time")
	end(t, early)
	expect("open.at.the.start")
	db.Exec("select core.emit('shop', 'another')")
	expect("another")
	end(t, below)
	expect("late.below.a.savepoint")
	end(t, late)
	expect("late")
	db.Exec("select core.emit('shop', 'last')")
	expect("last")
	if code, errs := stop(); code != exitOK || errs != "" {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

func TestTailSince(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Namespace("mall")
	db.Exec("select core.emit('shop', 'a.b') from generate_series(1, 1203)")
	db.Exec("select core.emit('shop', 'a.c', '{\"n\": 12345678901234567890}')")
	db.Exec("select core.emit('mall', 'a.d')")
	db.Exec("select core.emit('shop', 'b')")
	run := func(args ...string) []string {
		t.Helper()
		return strings.Split(strings.TrimSuffix(s.ok(append([]string{"events", "tail", "--since", "1h"}, args...)...), "\n"), "\n")
	}
	if all := run("--limit", "1206"); len(all) != 1206 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 1206 {
		t.Errorf("%d lines", len(all))
	}
	if got := run("-n", "mall", "--limit", "1"); !strings.Contains(got[0], "a.d") {
		t.Errorf("of a namespace: %q", got)
	}
	if got := run("--type", "a.c", "--limit", "1", "-o", "json"); !strings.Contains(got[0], "12345678901234567890") {
		t.Errorf("of a type: %q", got)
	}
	if got := run("--since", "2000-01-01T00:00:00Z", "--type", "b", "--limit", "1"); !strings.Contains(got[0], "  b  {}") {
		t.Errorf("since a time: %q", got)
	}
	s.fails(exitUsage, []string{"--since"}, "events", "tail", "--since", "yesterday")
	s.fails(exitUsage, []string{"--interval"}, "events", "tail", "--interval", "0s")
}

func TestEventStatus(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	id := dbtest.Get[string](db, "select event_id::text from core.emit('shop', 'a.b')")
	uid := dbtest.Get[string](db, "select event_uid::text from core.event_log")
	type row struct{ Consumer, State string }
	for _, key := range []string{id, uid} {
		if got := okJSON[[]row](s, "events", "status", key); len(got) != 1 || got[0] != (row{"default", "visible"}) {
			t.Errorf("%s: %v", key, got)
		}
	}
	s.fails(exitNotFound, []string{"--around"}, "events", "status", uid, "--around", "2000-01-01T00:00:00Z")
	s.fails(exitNotFound, nil, "events", "status", "999999")
	s.fails(exitUsage, nil, "events", "status", "nothing")
}
