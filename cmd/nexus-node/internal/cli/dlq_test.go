package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// buried gives a namespace dead letters, one for each event type, refused for the reason.
func buried(t *testing.T, db *dbtest.DB, ns, reason string, types ...string) {
	t.Helper()
	db.Namespace(ns)
	for _, eventType := range types {
		db.Exec("select core.emit($1, $2)", ns, eventType)
	}
	n := node.New(db.Pool, node.Config{Namespace: nexus.Namespace(ns), Logger: slog.New(slog.DiscardHandler)})
	n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Reject(reason) })
	if done, err := n.Work(t.Context(), len(types)); err != nil || done != len(types) {
		t.Fatalf("%d of %d were handled: %v", done, len(types), err)
	}
}

type letter struct {
	ID        int64  `json:"dead_letter_id"`
	Namespace string `json:"namespace"`
	Type      string `json:"event_type"`
	Reason    string `json:"reason"`
}

func types(letters []letter) string {
	var out []string
	for _, l := range letters {
		out = append(out, l.Type)
	}
	return strings.Join(out, " ")
}

type counts struct{ Matched, Done, Skipped int }

func TestDLQList(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.c", "b")
	buried(t, db, "mall", "other", "a.b")
	for _, c := range []struct{ flags, want string }{
		{"", "a.b a.c b a.b"},
		{"-n shop", "a.b a.c b"},
		{"-n shop --type a.*", "a.b a.c"},
		{"--type a.b", "a.b a.b"},
		{"--type a", ""},
		{"--type *", "a.b a.c b a.b"},
		{"--reason other", "a.b"},
		{"--source lane", ""},
		{"--trigger mail", ""},
		{"--target go:mail", ""},
		{"--source delivery --limit 2", "a.b a.c"},
		{"--after 2026-01-01T00:00:00Z --before 2026-01-01T00:00:00Z", ""},
		{"--before 2999-01-01T00:00:00Z -n mall", "a.b"},
	} {
		got := types(okJSON[[]letter](s, append([]string{"dlq", "list"}, strings.Fields(c.flags)...)...))
		if got != c.want {
			t.Errorf("dlq list %s shows %q, want %q", c.flags, got, c.want)
		}
	}
}

func TestDLQReplay(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.c")
	letters := okJSON[[]letter](s, "dlq", "list")
	if d := cmp.Diff(counts{2, 2, 0}, okJSON[counts](s, "dlq", "replay", "-n", "shop", "--dry-run")); d != "" {
		t.Error(d)
	}
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.b a.c" {
		t.Fatalf("after a dry run there is %q", got)
	}
	first := fmt.Sprint(letters[0].ID)
	if d := cmp.Diff(counts{1, 1, 0}, okJSON[counts](s, "dlq", "replay", first, "--payload", `{"new": true}`)); d != "" {
		t.Error(d)
	}
	if got := dbtest.Get[string](db, "select (message -> 'payload')::text from core.peek('core_events_shop', 10)"); got != `{"new": true}` {
		t.Errorf("what was replayed carries %s", got)
	}
	s.fails(exitNotFound, []string{"not among the unresolved dead letters: 1"}, "dlq", "replay", first)
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.c" {
		t.Errorf("after the replay there is %q", got)
	}
	if r := s.run("dlq", "replay", "--type", "z.*"); r.code != exitOK {
		t.Errorf("a filter that matches nothing is an answer, but: %s", r.errors)
	}
}

// NEXUS_NAMESPACE is set for other commands; it must not make a bare verb take all.
func TestDLQVerbsNeedAnExplicitChoice(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b")
	s.cfg.Namespace = "shop"
	s.fails(exitUsage, nil, "dlq", "replay")
	s.fails(exitUsage, nil, "dlq", "discard", "--note", "x")
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.b" {
		t.Errorf("left is %q", got)
	}
}

func TestDLQDiscardAndShow(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.c")
	letters := okJSON[[]letter](s, "dlq", "list")
	id := fmt.Sprint(letters[0].ID)
	if d := cmp.Diff(counts{1, 1, 0}, okJSON[counts](s, "dlq", "discard", id, "--note", "test order", "--dry-run")); d != "" {
		t.Error(d)
	}
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.b a.c" {
		t.Fatalf("after a dry run there is %q", got)
	}
	s.ok("dlq", "discard", id, "--note", "test order")
	shown := okJSON[map[string]any](s, "dlq", "show", id)
	if shown["resolution"] != "discarded" || shown["resolved_reason"] != "test order" {
		t.Errorf("resolved as %v for %v", shown["resolution"], shown["resolved_reason"])
	}
	s.fails(exitNotFound, []string{"no dead letter 999999"}, "dlq", "show", "999999")
}

// What somebody else wrote must not drive the terminal of whoever looks.
func TestHostileTextIsShownNotSent(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "\x1b[2Jgone\r\u202e", "a.b")
	id := fmt.Sprint(okJSON[[]letter](s, "dlq", "list")[0].ID)
	for _, out := range []string{s.ok("dlq", "list"), s.ok("dlq", "show", id)} {
		if strings.ContainsAny(out, "\x1b\r\u202e") || !strings.Contains(out, "gone") {
			t.Errorf("control characters reach the terminal: %q", out)
		}
	}
}

func TestDLQGroupPreviewAndDryRun(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.b", "a.c")
	db.Exec("update core.dead_letters set consumer = 'gone' where event_type = 'a.c'")

	type group struct {
		Count         int    `json:"count"`
		Type          string `json:"event_type"`
		NotReplayable string `json:"not_replayable"`
	}
	want := []group{{Count: 2, Type: "a.b"}, {Count: 1, Type: "a.c"}}
	if d := cmp.Diff(want, okJSON[[]group](s, "dlq", "group", "-n", "shop")); d != "" {
		t.Error(d)
	}
	want[1].NotReplayable = "consumer 'gone' is gone"
	if d := cmp.Diff(want, okJSON[[]group](s, "dlq", "replay", "-n", "shop", "--preview")); d != "" {
		t.Error(d)
	}
	if out := s.ok("dlq", "replay", "-n", "shop", "--dry-run"); !strings.Contains(out, "consumer 'gone' is gone") {
		t.Errorf("a dry run does not say what is skipped and why:\n%s", out)
	}
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.b a.b a.c" {
		t.Fatalf("after looking there is %q", got)
	}
	s.fails(exitUsage, []string{"give one"}, "dlq", "replay", "-n", "shop", "--dry-run", "--preview")
	s.fails(exitUsage, []string{"--limit"}, "dlq", "replay", "-n", "shop", "--limit", "-1")
	s.fails(exitUsage, []string{"--rate"}, "dlq", "replay", "-n", "shop", "--rate", "-1")
}

func TestDLQReplayAllAtARate(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec(`insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, attempts, failed_at, reason)
		select 'shop', 'default', 'a', 'delivery', to_jsonb(g), '1', 1, core.now(), 'r' from generate_series(1, 2100) g`)
	r := s.run("dlq", "replay", "-n", "shop", "--limit", "0", "--rate", "0.5", "-o", "json")
	if r.code != exitOK || !strings.Contains(r.errors, "2000 matched") || !strings.Contains(r.out, `"done": 2100`) {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errors)
	}
	if n := dbtest.Get[int64](db, "select count(*) from core.delayed"); n < 2000 {
		t.Errorf("%d wait for their turn", n)
	}
}

func TestDLQResolve(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.c")
	id := fmt.Sprint(okJSON[[]letter](s, "dlq", "list")[0].ID)
	s.fails(exitUsage, []string{"--as"}, "dlq", "resolve", id, "--note", "x")
	s.fails(exitUsage, []string{"--note"}, "dlq", "resolve", id, "--as", "ignored")
	s.fails(exitUsage, []string{"code: NX006"}, "dlq", "resolve", id, "--as", "forgotten", "--note", "x")
	s.ok("dlq", "resolve", id, "--as", "ignored", "--note", "x", "--dry-run")
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "a.b a.c" {
		t.Fatalf("after a dry run there is %q", got)
	}
	s.ok("dlq", "resolve", id, "--as", "handled_by_script", "--note", "by hand")
	if got := okJSON[map[string]any](s, "dlq", "show", id); got["resolution"] != "handled_by_handler" {
		t.Errorf("resolved as %v", got["resolution"])
	}
	s.ok("dlq", "discard", "-n", "shop", "--note", "rest", "--limit", "0")
	if got := types(okJSON[[]letter](s, "dlq", "list")); got != "" {
		t.Errorf("left is %q", got)
	}
}

func TestDLQClaims(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a.b", "a.c", "a.d", "a.e")
	type claimed struct {
		ID      int64          `json:"dead_letter_id"`
		Token   string         `json:"claim_token"`
		Payload map[string]any `json:"payload"`
	}
	held := okJSON[[]claimed](s, "dlq", "claim", "-n", "shop", "--limit", "3", "--for", "10m")
	if len(held) != 3 || held[0].Token == "" || held[0].Payload == nil {
		t.Fatalf("%+v", held)
	}
	id := func(i int) string { return fmt.Sprint(held[i].ID) }
	if out := s.ok("dlq", "claim", "-n", "shop"); !strings.Contains(out, "a.e") || strings.Contains(out, "a.b") {
		t.Errorf("a second claim shows\n%s", out)
	}
	s.fails(exitNotFound, []string{"at work on them"}, "dlq", "claim", id(0))
	s.fails(exitNotFound, []string{"at work on them"}, "dlq", "discard", id(0), "--note", "x")
	other := "01900000-0000-7000-8000-00000000cafe"
	s.fails(exitFailed, []string{"code: NX303", "nexus-node dlq claim"}, "dlq", "discard", id(0), "--note", "x", "--claim", other)
	s.fails(exitFailed, []string{"code: NX303"}, "dlq", "reject", id(0), "--error", "x", "--claim", other)
	s.fails(exitFailed, []string{"code: NX303"}, "dlq", "extend", id(0), "--claim", other)
	for _, line := range [][]string{
		{"dlq", "discard", id(0), id(1), "--note", "x", "--claim", other}, {"dlq", "replay", "--type", "a.*", "--claim", other}, {"dlq", "replay", id(0), "--rate", "5", "--claim", other},
		{"dlq", "discard", id(0), "--note", "x", "--claim", "mine"}, {"dlq", "extend", id(0)}, {"dlq", "reject", id(0), "--claim", other}, {"dlq", "claim", "-n", "shop", "--limit", "0"}, {"dlq", "claim"},
		{"dlq", "expire", "-n", "shop"},
	} {
		s.fails(exitUsage, nil, line...)
	}
	s.fails(exitUsage, []string{"--for"}, "dlq", "extend", id(0), "--claim", held[0].Token, "--for", "48h")
	if out := s.ok("dlq", "extend", id(0), "--claim", held[0].Token, "--for", "1h"); !strings.Contains(out, "1h0m0s") {
		t.Errorf("extended: %s", out)
	}
	if out := s.ok("dlq", "replay", id(0), "--claim", held[0].Token, "--payload", `{"n": 7}`, "--dry-run"); !strings.Contains(out, "would be replayed") {
		t.Errorf("a dry run says %s", out)
	}
	s.ok("dlq", "replay", id(0), "--claim", held[0].Token, "--payload", `{"n": 7}`)
	s.ok("dlq", "resolve", id(1), "--as", "ignored", "--note", "x", "--claim", held[1].Token)
	s.ok("dlq", "reject", id(2), "--error", "not yet", "--claim", held[2].Token)
	want := "replayed ignored pending reprocessing"
	if got := dbtest.Get[string](db, "select string_agg(coalesce(resolution, status), ' ' order by dead_letter_id) from core.dead_letters"); got != want {
		t.Errorf("they are %s, want %s", got, want)
	}
	if got := okJSON[counts](s, "dlq", "expire", "-n", "shop", "--note", "old"); got.Done != 1 {
		t.Errorf("expired %+v", got)
	}
}
