package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestNamespaces(t *testing.T) {
	db, s := onDatabase(t)
	for _, want := range []string{"created", "exists"} {
		got := okJSON[map[string]string](s, "namespace", "create", "shop", "--max-attempts", "4", "--retry-base", "2s", "--dedupe-for", "72h", "--metadata", `{"team": "x"}`)
		if got["state"] != want {
			t.Errorf("it says %q, want %s", got, want)
		}
	}
	s.ok("namespace", "create", "shop")
	s.fails(exitFailed, []string{"code: NX201", "field: ", "dedupe_for is 72:00:00, given"}, "namespace", "create", "shop", "--dedupe-for", "24h")
	s.fails(exitUsage, []string{"code: NX001"}, "namespace", "create", "Shop")
	s.ok("namespace", "alter", "shop", "--retry-max", "1m")
	if got := dbtest.Get[string](db, "select retry::text from core.namespaces where namespace = 'shop'"); got != `{"max": "60.000000s", "base": "2.000000s", "max_attempts": 4}` {
		t.Errorf("one flag leaves of the policy %s", got)
	}
	s.ok("namespace", "create", "mall", "--restricted", "--default-consumer", "on")
	s.ok("namespace", "create", "town", "--default-consumer", "off")
	if dbtest.Get[bool](db, "select default_consumer from core.namespaces where namespace = 'town'") {
		t.Error("--default-consumer off has no effect")
	}

	type row struct {
		Namespace string         `json:"namespace"`
		Metadata  map[string]any `json:"metadata"`
	}
	got := okJSON[[]row](s, "namespace", "list")
	want := []row{{"mall", map[string]any{}}, {"shop", map[string]any{"team": "x"}}, {"town", map[string]any{}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !dbtest.Get[bool](db, "select restricted from core.namespaces where namespace = 'mall'") {
		t.Error("--restricted has no effect")
	}
}

// Who may not create namespaces is told that one is there, or whom to ask for what.
func TestNamespacesByWhoMayNotCreateThem(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	boss, _ := db.As("nexus_admin")
	var login string
	login, s.cfg.DatabaseURL = db.As("nexus_producer")
	if got := okJSON[map[string]string](s, "namespace", "create", "shop")["state"]; got != "exists" {
		t.Errorf("of one that is there it says %q", got)
	}
	s.fails(exitFailed, []string{
		"code: NX401", "role " + login + " may not create namespaces, and has none named 'mall'", boss,
		"Ask an administrator for: nexus-node namespace create mall or, if it is restricted: nexus-node namespace grant mall " + login + " produce",
	}, "namespace", "create", "mall")
}

func TestDroppingANamespace(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	exists := func() bool {
		return dbtest.Get[bool](db, "select exists (select from core.namespaces where namespace = 'shop')")
	}
	s.fails(exitFailed, []string{"code: NX206"}, "namespace", "drop", "shop")
	s.fails(exitFailed, []string{"code: NX206"}, "namespace", "drop", "shop", "--confirm", "ship")
	db.Exec("select core.emit('shop', 'a')")
	for _, dry := range [][]string{{}, {"--dry-run"}} {
		s.fails(exitFailed, []string{"code: NX203"}, append([]string{"namespace", "drop", "shop", "--confirm", "shop"}, dry...)...)
	}
	s.ok("namespace", "drop", "shop", "--confirm", "shop", "--force", "--dry-run")
	if !exists() {
		t.Fatal("a dry run dropped it")
	}
	s.ok("namespace", "drop", "shop", "--confirm", "shop", "--force")
	if exists() {
		t.Fatal("it is still there")
	}
	s.fails(exitNotFound, []string{"code: NX101"}, "namespace", "drop", "shop", "--confirm", "shop")
}
