package docgen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

var goReason = regexp.MustCompile(`(?m)^\tReason[A-Z]\w* += "(.*)"$`)

// Every reason that a dead letter can have is explained, so that filters can be written.
// holds: reasons
func TestReasonsAreExplained(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "guides", "dead-letters.md"))
	if err != nil {
		t.Fatal(err)
	}
	words, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "internal", "work", "reasons.go"))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, m := range goReason.FindAllSubmatch(words, -1) {
		reasons = append(reasons, string(m[1]))
	}
	if len(reasons) < 6 {
		t.Fatalf("reasons of the node: %q", reasons)
	}
	db := dbtest.New(t)
	for _, reason := range []string{"rejected", "attempts used up", "not acknowledged (process lost)", "not an envelope", "No handler for event "} {
		if !dbtest.Get[bool](db, `select exists (select from pg_proc p
			where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and position(quote_literal($1::text) in p.prosrc) > 0)`, reason) {
			t.Errorf("no function has the reason %q", reason)
		}
		reasons = append(reasons, reason)
	}
	for _, reason := range reasons {
		if !strings.Contains(string(guide), "`"+strings.TrimSpace(reason)) {
			t.Errorf("the guide does not explain the reason %q", reason)
		}
	}
}
