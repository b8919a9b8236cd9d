package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/operate"
)

func TestQueuePurge(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 10005)")
	db.Exec(`select core.emit('shop', 'a', '{}', '{"delay": "1 h"}')`)
	db.Exec("select core_node.claim('core_events_shop', '{a}', '{0}', 2, '30 s')")
	left := func() int { return dbtest.Get[int](db, "select count(*)::int from pgmq.q_core_events_shop") }

	s.fails(exitUsage, nil, "queue", "purge", "--confirm", "x")
	s.fails(exitFailed, []string{"code: NX206"}, "queue", "purge", "-n", "shop")
	s.fails(exitNotFound, []string{"code: NX103"}, "queue", "purge", "nowhere", "--confirm", "nowhere")
	want := purged{Purged: operate.Purged{Removed: 10005, InFlight: 2, Delayed: 1}}
	for _, dry := range []string{"--dry-run=true", "--dry-run=false"} {
		want.DryRun = dry == "--dry-run=true"
		got := okJSON[purged](s, "queue", "purge", "-n", "shop", "--confirm", "core_events_shop", dry)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", dry, d)
		}
		if n := left(); (n == 0) != (dry == "--dry-run=false") {
			t.Errorf("%s leaves %d", dry, n)
		}
	}
	s.ok("queue", "purge", "-n", "shop", "--dead-letters", "--confirm", "core_events_shop_dlq")
}

// holds: N1-lost-cleared
func TestNodeDrainAndForget(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core_node.register_node('shop', 'n', true, '{}')")
	said := func(args ...string) string {
		t.Helper()
		return okJSON[struct{ State string }](s, args...).State
	}
	asked := "select drain_requested_at is not null from core.nodes"
	if got := said("node", "drain", "n", "--dry-run"); got != "would be asked to drain" || dbtest.Get[bool](db, asked) {
		t.Errorf("a dry run says %q", got)
	}
	if got := said("node", "drain", "n", "--note", "deploy"); got != "asked to drain" || !dbtest.Get[bool](db, asked) {
		t.Errorf("drain says %q", got)
	}
	// Nobody is behind this node, so it does not stop.
	if r := s.run("node", "drain", "n", "--wait", "150ms"); r.code != exitFailed {
		t.Errorf("exit code %d\n%s", r.code, r.out)
	}
	if got := said("node", "forget", "n", "--dry-run"); got != "would be lost" {
		t.Errorf("a dry run says %q", got)
	}
	if got := said("node", "forget", "n", "--note", "host is gone"); got != "lost" {
		t.Errorf("forget says %q", got)
	}
	if got := said("node", "drain", "n"); got != "is not running" {
		t.Errorf("drain of a lost node says %q", got)
	}
	// Seen and known: it is taken off the list.
	if got := said("node", "forget", "n", "--dry-run"); got != "would be forgotten" || dbtest.Get[int](db, "select count(*)::int from core.nodes") != 1 {
		t.Errorf("a dry run of a lost node says %q", got)
	}
	if got := said("node", "forget", "n"); got != "forgotten" || dbtest.Get[int](db, "select count(*)::int from core.nodes") != 0 {
		t.Errorf("forget of a lost node says %q", got)
	}
	db.Exec("select core_node.register_node('shop', 'n', true, '{}'); update core.nodes set state = 'stopped'")
	for _, verb := range []string{"drain", "forget"} {
		if got := said("node", verb, "n"); got != "is not running" {
			t.Errorf("%s of a node that stopped says %q", verb, got)
		}
		s.fails(exitNotFound, []string{"code: NX104"}, "node", verb, "nobody")
		s.fails(exitNotFound, []string{"code: NX104", `namespace "mall" has no node "n"`}, "node", verb, "n", "-n", "mall")
	}
	if got := dbtest.Get[string](db, "select string_agg(concat_ws(' ', action, target, reason), '; ' order by audit_id) from core.audit_log"); got !=
		"drain_node n deploy; drain_node n; forget_node n host is gone; forget_node n" {
		t.Errorf("the record says %s", got)
	}
}

func TestConsumerList(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Namespace("mall")
	db.Exec("select core.emit('shop', 'a')")
	type row struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Queue     string `json:"queue_name"`
		Length    int    `json:"queue_length"`
	}
	if d := cmp.Diff([]row{{"shop", "default", "core_events_shop", 1}}, okJSON[[]row](s, "consumer", "list", "-n", "shop")); d != "" {
		t.Error(d)
	}
	if got := okJSON[[]row](s, "consumer", "list"); len(got) != 2 {
		t.Errorf("of all namespaces: %v", got)
	}
}

// holds: L5
func TestEventsCancelAndRunNow(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	uid := dbtest.Get[string](db, `select event_uid::text from core.emit('shop', 'a', '{}', '{"delay": "1 h"}')`)
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 2)")
	type answer struct {
		EventID      int64  `json:"event_id"`
		Outcome      string `json:"outcome"`
		DeadLetterID int64  `json:"dead_letter_id"`
		DryRun       bool   `json:"dry_run"`
	}
	check := func(want []answer, args ...string) {
		t.Helper()
		if d := cmp.Diff(want, okJSON[[]answer](s, args...)); d != "" {
			t.Errorf("%v: %s", args, d)
		}
	}
	s.fails(exitUsage, []string{"--note"}, "events", "cancel", "-n", "shop", "1")
	s.fails(exitUsage, []string{"neither"}, "events", "run-now", "-n", "shop", "x")
	s.fails(exitNotFound, nil, "events", "run-now", "-n", "shop", "aaaaaaaa-0000-0000-0000-000000000001")
	check([]answer{{1, "would be due_now", 0, true}, {2, "already_due", 0, true}}, "events", "run-now", "-n", "shop", uid, "2", "--dry-run")
	check([]answer{{1, "due_now", 0, false}, {2, "already_due", 0, false}}, "events", "run-now", "-n", "shop", uid, "2")
	db.Exec("select core_node.claim('core_events_shop', '{a}', '{0}', 1, '30 s')")
	check([]answer{{1, "would be cancelled", 0, true}}, "events", "cancel", "-n", "shop", "1", "--note", "x", "--dry-run")
	check([]answer{{1, "cancelled", 2, false}}, "events", "cancel", "-n", "shop", "1", "--note", "x")
	if got := s.ok("events", "status", "1"); !strings.Contains(got, "cancelled") {
		t.Errorf("its status: %s", got)
	}
	if dbtest.Get[int](db, "select count(*)::int from pgmq.q_core_events_shop where vt > core.now()") != 1 {
		t.Error("nothing is leased")
	}
	leased := dbtest.Get[string](db, "select message ->> 'eventId' from pgmq.q_core_events_shop where vt > core.now()")
	s.fails(exitFailed, []string{"1 of 1 were left"}, "events", "cancel", "-n", "shop", leased, "--note", "x")
	s.fails(exitNotFound, []string{"shop"}, "events", "cancel", "-n", "shop", "999", "--note", "x")
}
