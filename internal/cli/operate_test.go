package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestQueuePurge(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 10005)")
	db.Exec(`select core.emit('shop', 'a', '{}', '{"delay": "1 h"}')`)
	db.Exec("select core.claim('core_events_shop', '{a}', '{0}', 2, '30 s')")
	left := func() int { return dbtest.Get[int](db, "select count(*)::int from pgmq.q_core_events_shop") }

	s.fails(exitUsage, nil, "queue", "purge", "--confirm", "x")
	s.fails(exitFailed, []string{"code: NX206"}, "queue", "purge", "-n", "shop")
	s.fails(exitNotFound, []string{"code: NX103"}, "queue", "purge", "nowhere", "--confirm", "nowhere")
	want := purged{Removed: 10005, InFlight: 2, Delayed: 1}
	for _, dry := range []string{"--dry-run=true", "--dry-run=false"} {
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

func TestNodeDrainAndForget(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core.register_node('shop', 'n', true, '{}')")
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
	for _, verb := range []string{"drain", "forget"} {
		if got := said("node", verb, "n"); got != "is not running" {
			t.Errorf("%s of a lost node says %q", verb, got)
		}
		s.fails(exitNotFound, []string{"code: NX104"}, "node", verb, "nobody")
		s.fails(exitNotFound, []string{"code: NX104", `namespace "mall" has no node "n"`}, "node", verb, "n", "-n", "mall")
	}
	if got := dbtest.Get[string](db, "select string_agg(concat_ws(' ', action, target, reason), '; ' order by audit_id) from core.audit_log"); got !=
		"drain_node n deploy; drain_node n; forget_node n host is gone" {
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
