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
	s.ok("namespace", "create", "mall", "--restricted", "--default-consumer", "on")
	s.fails(exitUsage, []string{"code: NX005", "field: --default-consumer"}, "namespace", "create", "town", "--default-consumer", "off")

	type row struct {
		Namespace string         `json:"namespace"`
		Metadata  map[string]any `json:"metadata"`
	}
	got := okJSON[[]row](s, "namespace", "list")
	want := []row{{"mall", map[string]any{}}, {"shop", map[string]any{"team": "x"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !dbtest.Get[bool](db, "select restricted from core.namespaces where namespace = 'mall'") {
		t.Error("--restricted has no effect")
	}
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
