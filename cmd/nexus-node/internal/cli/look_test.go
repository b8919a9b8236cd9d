package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestQueues(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	db.Exec(`select core.emit('shop', 'a.b', '{"n": 1}')`)
	db.Exec(`select core.emit('shop', 'a.c')`)

	type row struct {
		Name   string `json:"queue_name"`
		Length int    `json:"queue_length"`
	}
	want := []row{{"core_events_shop", 2}, {"core_events_shop_dlq", 0}}
	if d := cmp.Diff(want, okJSON[[]row](s, "queue", "list")); d != "" {
		t.Error(d)
	}

	type message struct {
		Type  string `json:"event_type"`
		Reads int    `json:"read_ct"`
		State string `json:"state"`
	}
	for range 2 {
		got := okJSON[[]message](s, "queue", "peek")
		if d := cmp.Diff([]message{{"a.b", 0, "visible"}, {"a.c", 0, "visible"}}, got); d != "" {
			t.Error(d)
		}
	}
	if got := okJSON[[]message](s, "queue", "peek", "core_events_shop", "--limit", "1"); len(got) != 1 {
		t.Errorf("--limit 1 shows %d", len(got))
	}
	if got := okJSON[[]message](s, "queue", "peek", "--dead-letters"); len(got) != 0 {
		t.Errorf("the dead-letter queue shows %d", len(got))
	}
	s.fails(exitNotFound, []string{"code: NX103"}, "queue", "peek", "nowhere")
	s.fails(exitUsage, []string{"code: NX006"}, "queue", "peek", "--limit", "0")
}

// A queue that has lost its table is listed, told from one that is locked, and made again by the doctor or by whoever creates its namespace.
// holds: node-lost-queue
func TestLostQueues(t *testing.T) {
	db, s := onDatabase(t)
	db.Exec(`select core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), core.create_namespace('mall')`)
	db.Exec(`select core.emit('shop', 'a.b', '{}', '{"delay": "1 h"}')`)
	type row struct {
		Name    string  `json:"queue_name"`
		Length  *int    `json:"queue_length"`
		Delayed int     `json:"delayed"`
		State   *string `json:"state"`
	}
	none, missing := 0, "missing"
	list := func(want []row) {
		t.Helper()
		s.cfg.Namespace = ""
		if d := cmp.Diff(want, okJSON[[]row](s, "queue", "list")); d != "" {
			t.Error(d)
		}
		s.cfg.Namespace = "shop"
	}
	db.Exec(`drop table pgmq.q_core_events_shop, pgmq.a_core_events_mall`)
	mall := []row{{"core_events_mall", &none, 0, nil}, {"core_events_mall_dlq", &none, 0, nil}}
	list(append(mall, row{"core_events_shop", nil, 1, &missing}, row{"core_events_shop_dlq", &none, 0, nil}))
	if out := s.ok("queue", "list"); !strings.Contains(out, "missing") {
		t.Errorf("the list is\n%s", out)
	}
	how := "nexus-node doctor --fix"
	s.fails(exitNotFound, []string{"code: NX110", how}, "emit", "a.b")
	s.fails(exitNotFound, []string{"code: NX110", how}, "queue", "peek")
	s.fails(exitNotFound, []string{"code: NX110", how}, "queue", "purge", "core_events_shop", "--confirm", "core_events_shop")

	if out := s.run("doctor").out; !strings.Contains(out, "core_events_shop of namespace shop") || !strings.Contains(out, "mend:  select core.create_namespace('shop');") {
		t.Errorf("the doctor says\n%s", out)
	}
	out := s.run("doctor", "--fix").out
	for _, ns := range []string{"shop", "mall"} {
		if !strings.Contains(out, "ran        lost queues: select core.create_namespace('"+ns+"');") {
			t.Errorf("--fix says\n%s", out)
		}
	}
	list(append(mall, row{"core_events_shop", &none, 1, nil}, row{"core_events_shop_dlq", &none, 0, nil}))
	db.Exec(`drop table pgmq.q_core_events_shop`)
	s.ok("namespace", "create", "shop")
	s.ok("emit", "a.b")
}

// The name of the namespace's queue is asked for by whoever looks at it.
func TestQueuePeekByEachWhoReads(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec(`select core.emit('shop', 'a.b')`)
	for _, role := range []string{"nexus_reader", "nexus_operator", "nexus_admin"} {
		_, s.cfg.DatabaseURL = db.As(role)
		if out := s.ok("queue", "peek", "-n", "shop"); !strings.Contains(out, "a.b") {
			t.Errorf("%s sees\n%s", role, out)
		}
		s.ok("queue", "peek", "-n", "shop", "--dead-letters")
	}
}

func TestNodeList(t *testing.T) {
	db, s := onDatabase(t)
	for _, ns := range []string{"shop", "mall"} {
		db.Namespace(ns)
		db.Exec("select core_node.register_node($1, $1 || '-1', true, '{}')", ns)
	}
	type row struct {
		ID    string `json:"node_id"`
		State string `json:"state"`
		Alive bool   `json:"alive"`
	}
	mall, shop := row{"mall-1", "starting", true}, row{"shop-1", "starting", true}
	if d := cmp.Diff([]row{mall, shop}, okJSON[[]row](s, "node", "list")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]row{mall}, okJSON[[]row](s, "node", "list", "-n", "mall")); d != "" {
		t.Error(d)
	}
	s.cfg.Namespace = "shop"
	if d := cmp.Diff([]row{shop}, okJSON[[]row](s, "node", "list")); d != "" {
		t.Error(d)
	}
	if got := okJSON[[]row](s, "node", "list", "-n", ""); len(got) != 2 {
		t.Errorf(`-n "" shows %d nodes, want those of every namespace`, len(got))
	}
}

// A login without the right learns so, with the line that mends it or the code to look it up.
func TestForbidden(t *testing.T) {
	db, s := onDatabase(t)
	s.cfg.DatabaseURL = db.URL
	s.fails(exitFailed, []string{"code: ", "error: "}, "namespace", "create", "shop")
	s.fails(exitFailed, []string{"code: 42501", "error: "}, "queue", "list")
}

func TestASchemaThatIsMissing(t *testing.T) {
	db, s := onDatabase(t)
	db.Exec("drop schema core, core_node, core_private cascade")
	s.fails(exitFailed, []string{"code: NX502", "hint: "}, "namespace", "list")
}

// holds: T8 (migrate up)
func TestMigrate(t *testing.T) {
	db, s := onDatabase(t)
	if out := s.ok("migrate", "status"); !strings.HasPrefix(out, "version") {
		t.Errorf("status says\n%s", out)
	}
	if out := s.ok("migrate", "plan"); out != "" {
		t.Errorf("there is nothing to plan, but:\n%s", out)
	}
	dump := s.ok("migrate", "dump")
	if !strings.Contains(dump, "create table core.event_log") {
		t.Error("dump holds no table of the event log")
	}

	db.Exec("drop function core.emit(text, text, jsonb, jsonb)")
	r := s.run("migrate", "status", "-o", "json")
	if r.code != exitFailed || !strings.Contains(r.out, "core.emit") {
		t.Errorf("status of an edited schema: exit code %d\n%s", r.code, r.out)
	}
	if out := s.ok("migrate", "up", "--repair"); !strings.Contains(out, "applied") {
		t.Errorf("up says\n%s", out)
	}
	s.ok("migrate", "status")
	if !dbtest.Get[bool](db, "select to_regprocedure('core.emit(text, text, jsonb, jsonb)') is not null") {
		t.Error("up did not bring the function back")
	}
	s.cfg.MaxTriggerDepth, s.cfg.TriggerRetryMaxAttempts, s.cfg.TriggerRetryBackoff, s.cfg.TriggerRetryBaseMs = 12, 5, "linear", 250
	s.cfg.DeadLetterRetentionDays, s.cfg.AbandonedExecutionsRetentionDays = 60, 14
	s.ok("migrate", "up")
	if got := dbtest.Get[string](db, "select s::text from core.settings s"); got != `(12,"{""max"": ""5 min"", ""base"": ""0.250000s"", ""shape"": ""linear"", ""jitter"": 0.2, ""max_attempts"": 5}",1440:00:00,336:00:00)` {
		t.Errorf("the environment is stored as %s", got)
	}
	s.fails(exitFailed, []string{"--pgmq-sql"}, "migrate", "up", "--pgmq-sql", "/nowhere")
}
