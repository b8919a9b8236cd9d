package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// holds: completion
func TestSummary(t *testing.T) {
	few := []string{"functions/a.sql", "put back: x/y of z"}
	if d := cmp.Diff(few, summary(few)); d != "" {
		t.Error(d)
	}
	many := []string{"extensions", "put back: x/y of z"}
	for i := range 1200 {
		many = append(many, fmt.Sprintf("functions/f%d.sql", i))
	}
	many = append(many, "migrations/0001_a.sql", "views/v.sql")
	want := []string{"1 migrations", "1,200 functions", "1 views", "extensions", "put back: x/y of z", "each by --verbose, or with -o json"}
	if d := cmp.Diff(want, summary(many)); d != "" {
		t.Error(d)
	}
}

// An installation is told on a screen; each step with --verbose, and in JSON.
// holds: completion
func TestMigrateUpIsSummedUp(t *testing.T) {
	db, s := onDatabase(t)
	again := func(args ...string) result {
		t.Helper()
		db.Exec("drop schema core, core_node, core_private cascade")
		return s.run(append([]string{"migrate", "up"}, args...)...)
	}
	short := again()
	if n := strings.Count(short.out+short.errors, "\n"); n > 30 || short.code != exitOK || !strings.Contains(short.out, " functions\n") {
		t.Errorf("exit code %d, %d lines:\n%s%s", short.code, n, short.errors, short.out)
	}
	if long := again("--verbose"); strings.Count(long.out, "\n") < 200 || strings.Count(long.errors, "\n") < 200 {
		t.Errorf("--verbose prints\n%s%s", long.errors, long.out)
	}
}
