package docgen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// The README's lines run too, and its replay finds what failed in a node in the ordinary way.
func TestReadmeRuns(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`select core.create_namespace('shop')`)
	db.Exec(`select core.emit('shop', 'order.placed')`)
	db.Exec(`select core.claim('core_events_shop', '{order.placed}', '{1}', 1, '30 s')`)
	db.Exec(`select core.settle('core_events_shop', 'n', '{}', '{}', '{1}', '{1}', '{retry}', '{null}',
		array['{"max_attempts": 1}']::jsonb[], '{error}', '{boom}')`)
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := sqlBlock.FindAllSubmatch(raw, -1)
	if len(blocks) == 0 {
		t.Fatal("no SQL in the README")
	}
	for _, b := range blocks {
		db.Exec(string(b[1]))
	}
	if got := dbtest.Get[string](db, `select resolution from core.dead_letters`); got != "replayed" {
		t.Errorf("after the README's replay the dead letter is %s", got)
	}
}

var goReason = regexp.MustCompile(`(?m)^\treason[A-Z]\w* += "(.*)"$`)

// Every reason that a dead letter can have is explained, so that filters can be written.
func TestReasonsAreExplained(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "dead-letters.md"))
	if err != nil {
		t.Fatal(err)
	}
	judge, err := os.ReadFile(filepath.Join("..", "consume", "judge.go"))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, m := range goReason.FindAllSubmatch(judge, -1) {
		reasons = append(reasons, string(m[1]))
	}
	if len(reasons) < 6 {
		t.Fatalf("reasons of the node: %q", reasons)
	}
	db := dbtest.New(t)
	for _, reason := range []string{"rejected", "attempts used up", "not acknowledged (process lost)", "not an envelope", "No handler for event "} {
		if !dbtest.Get[bool](db, `select exists (select from pg_proc p
			where p.pronamespace in ('core'::regnamespace, 'core_private'::regnamespace) and position(quote_literal($1::text) in p.prosrc) > 0)`, reason) {
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

// The lines of the guides run as they are written, one block after the other.
func TestPsqlGuideRuns(t *testing.T)      { runGuide(t, "psql.md") }
func TestSchedulesGuideRuns(t *testing.T) { runGuide(t, "schedules.md") }
func TestOneShotsGuideRuns(t *testing.T)  { runGuide(t, "one-shots.md") }

func TestUnhandledTypesGuideRuns(t *testing.T) { runGuide(t, "unhandled-types.md") }

func runGuide(t *testing.T, name string) {
	t.Helper()
	db := dbtest.New(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", name))
	if err != nil {
		t.Fatal(err)
	}
	blocks := sqlBlock.FindAllSubmatch(raw, -1)
	if len(blocks) < 4 {
		t.Fatalf("%d blocks of SQL in the guide", len(blocks))
	}
	for _, b := range blocks {
		conn, err := db.Owner.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Conn().PgConn().Exec(t.Context(), string(b[1])).ReadAll()
		conn.Release()
		if err != nil {
			t.Errorf("%v in\n%s", err, b[1])
		}
	}
}
