package readmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestRecordsKeepOrderAndDigits(t *testing.T) {
	t.Parallel()
	const row = `{"z":9007199254740993,"a":{"n": 12345678901234567890.10},"s":"x\"y","none":null}`
	r, err := Parse([]byte(row))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Names, ","); got != "z,a,s,none" {
		t.Errorf("columns are %s", got)
	}
	if got := strings.Join(r.Texts(), ";"); got != `9007199254740993;{"n":12345678901234567890.10};x"y;` {
		t.Errorf("texts are %s", got)
	}
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out); got != strings.ReplaceAll(row, `: `, `:`) {
		t.Errorf("it is encoded as %s", got)
	}
}

// What a pattern matches is said by core_private.matches; the condition here is one that an index serves, and picks the same.
// holds: lists-types (readmodel beside core_private.matches)
func TestTypesArePickedAsConsumersPickThem(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	types := []string{"order", "order.placed", "order.placed.late", "orders.placed", "order:placed", "a*", "a", "*", ".*", "x%y", "xzy"}
	for _, pattern := range []string{"*", "order", "order.*", "order:*", "order.placed.*", "order*", "a*", ".*", "x%y", "nothing", "nothing.*"} {
		l := List{SQL: "select t from pg_catalog.unnest($1::text[]) t where true", Args: []any{types}}
		l.OfType("t", pattern)
		want := dbtest.Get[string](db, "select coalesce(string_agg(t, ' ' order by t), '') from unnest($1::text[]) t where core_private.matches($2, t)", types, pattern)
		got := dbtest.Get[string](db, "select coalesce(string_agg(t, ' ' order by t), '') from ("+l.SQL+") l", l.Args...)
		if got != want {
			t.Errorf("%q picks %q, and a consumer %q", pattern, got, want)
		}
	}
}

func TestSourceKindsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	if kinds := dbtest.Get[[]string](db, "select array_agg(kind) from core_private.source_kinds()"); !slices.Equal(kinds, SourceKinds) {
		t.Errorf("SourceKinds are %v, and the database knows %v", SourceKinds, kinds)
	}
}

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	l := List{
		What: "count", SQL: "select i / 2 as half, i from pg_catalog.generate_series(1, 9) i", Names: []string{"half", "i"},
		Keys: []Key{{"half", "int"}, {"i", "int"}},
	}
	var got []string
	var p Page
	p.Limit = 4
	for {
		rows, err := l.Read(t.Context(), db.Owner, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows.Records {
			got = append(got, r.Texts()[1])
		}
		if rows.More != (rows.Next != nil) {
			t.Errorf("more: %t, next %v", rows.More, rows.Next)
		}
		if !rows.More {
			break
		}
		if left, err := l.Left(t.Context(), db.Owner, rows.Next); err != nil || left != 9-len(got) {
			t.Errorf("%d are left after %d, %v", left, len(got), err)
		}
		cursor, err := ParseCursor(Cursor{List: "count", Place: rows.Next}.String())
		if err != nil || cursor.List != "count" {
			t.Fatalf("%+v, %v", cursor, err)
		}
		p.After = cursor.Place
	}
	if d := cmp.Diff(strings.Fields("1 2 3 4 5 6 7 8 9"), got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "x", "W10", "WyJhIl0", "e30"} {
		if c, err := ParseCursor(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, c)
		}
	}
}

// Every list and select is one that the database takes, with and without conditions.
func TestListsAreTaken(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'order.placed') from generate_series(1, 3)")
	for _, l := range []List{
		Namespaces(""), Namespaces("shop"), Queues("shop"), Consumers("shop"), Nodes("shop"), Sweeps(), Audit(AuditFilter{Namespace: "shop", Action: "x"}),
		Events(EventFilter{}), Events(EventFilter{Namespace: "shop", Type: "order.*"}), Events(EventFilter{Namespace: "shop", Type: "order.placed"}),
		DeadLetters(DeadLetterFilter{Source: "lane", Reason: "x"}), DeadLetters(DeadLetterFilter{Namespace: "shop", Type: "order.placed"}), DeadLetterGroups("shop"),
		ScheduledEvents("shop", "pending", "order.*"), ScheduledEvents("", "failed", ""), Tasks("shop", "me"),
		TaskSlots("aaaaaaaa-0000-0000-0000-000000000001"), TaskRuns("aaaaaaaa-0000-0000-0000-000000000001"),
		Attempts("aaaaaaaa-0000-0000-0000-000000000001", "shop"),
	} {
		rows, err := l.Read(t.Context(), db.Owner, Page{Limit: 2})
		if err != nil {
			t.Errorf("%s: %v", l.What, err)
			continue
		}
		for _, r := range rows.Records {
			if d := cmp.Diff(l.Names, r.Names); d != "" {
				t.Errorf("%s has other columns than it says: %s", l.What, d)
			}
		}
		if rows.Next != nil {
			if _, err := l.Left(t.Context(), db.Owner, rows.Next); err != nil {
				t.Errorf("what is left of %s: %v", l.What, err)
			}
		}
	}
	if rows, err := Events(EventFilter{Namespace: "shop", Type: "order.*"}).Read(t.Context(), db.Owner, Page{Limit: 2}); err != nil || len(rows.Records) != 2 || !rows.More {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'before')")
	tail := Tail{Pool: db.Owner, Namespace: "shop", Type: "order.*"}
	look := func() string {
		t.Helper()
		var seen []string
		if err := tail.Look(t.Context(), func(r Record) error { seen = append(seen, r.Texts()[0]); return nil }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(seen, " ")
	}
	if got := look(); got != "" {
		t.Errorf("at first it shows %s", got)
	}
	// The one that commits late is shown when it commits, and is not missed.
	late, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Rollback(context.Background()) }()
	if _, err := late.Exec(t.Context(), "select core.emit('shop', 'order.late')"); err != nil {
		t.Fatal(err)
	}
	db.Exec("select core.emit('shop', t) from unnest('{order.placed,other}'::text[]) t")
	first := look()
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := func(eventType string) string {
		return fmt.Sprint(dbtest.Get[int64](db, "select event_id from core.event_log where event_type = $1", eventType))
	}
	if got := []string{first, look(), look()}; !cmp.Equal(got, []string{id("order.placed"), id("order.late"), ""}) {
		t.Errorf("it shows %q", got)
	}
}
