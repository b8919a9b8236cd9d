package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// as makes the shell an ordinary login of the role.
func (s *shell) as(db *dbtest.DB, role string) {
	s.t.Helper()
	_, s.cfg.DatabaseURL = db.As(role)
}

// holds: verbs-look
func TestNamespaceShowAlterGrantRevoke(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.as(db, "nexus_admin")
	s.ok("namespace", "alter", "shop", "--dedupe-for", "2h", "--metadata", `{"team": "x"}`)
	s.ok("namespace", "alter", "shop", "--restricted", "on", "--max-attempts", "3")
	s.ok("namespace", "grant", "shop", "nexus_reader", "read")
	s.ok("namespace", "grant", "shop", "nexus_reader", "read")
	s.fails(exitUsage, []string{"nothing says what to change"}, "namespace", "alter", "shop")
	s.fails(exitUsage, []string{`DUTY is "write"; it takes produce, consume, operate, read`}, "namespace", "grant", "shop", "nexus_reader", "write")
	s.fails(exitNotFound, []string{"code: NX107"}, "namespace", "grant", "shop", "nobody_has_this", "read")
	s.fails(exitNotFound, []string{"code: NX101"}, "namespace", "alter", "mall", "--dedupe-for", "2h")
	s.fails(exitNotFound, []string{`no namespace "mall"`}, "namespace", "show", "mall")

	type grant struct{ Role, Duty string }
	type shown struct {
		Namespace  string
		Metadata   map[string]any
		Restricted bool
		DedupeFor  string         `json:"dedupe_for"`
		Retry      map[string]any `json:"retry"`
		Queues     []string
		Grants     []grant
	}
	want := shown{
		"shop", map[string]any{"team": "x"}, true, "02:00:00", map[string]any{"max_attempts": 3.0},
		[]string{"core_events_shop", "core_events_shop_dlq"}, []grant{{"nexus_reader", "read"}},
	}
	s.as(db, "nexus_reader")
	if d := cmp.Diff(want, okJSON[shown](s, "namespace", "show", "shop")); d != "" {
		t.Error(d)
	}
	s.as(db, "nexus_admin")
	s.ok("namespace", "revoke", "shop", "nexus_reader", "read")
	s.as(db, "nexus_reader")
	s.fails(exitNotFound, []string{`no namespace "shop" that you may see`}, "namespace", "show", "shop")
}

// holds: verbs-look
func TestTaskShowHistoryBackfill(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core.schedule_task('shop', 'close-day', '0 2 * * *', 'day.closed', '{\"n\": 1}')")
	s.cfg.Namespace = "shop"
	s.as(db, "nexus_producer")
	backfill := []string{"task", "backfill", "close-day", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-04T00:00:00Z"}
	type filled struct {
		Task   string
		Fired  int
		DryRun bool `json:"dry_run"`
	}
	for _, c := range []struct {
		args []string
		want filled
	}{
		{append(backfill, "--dry-run"), filled{"close-day", 3, true}},
		{backfill, filled{"close-day", 3, false}},
		{backfill, filled{"close-day", 0, false}},
	} {
		if d := cmp.Diff(c.want, okJSON[filled](s, c.args...)); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
	}
	s.fails(exitUsage, []string{"--from is missing"}, "task", "backfill", "close-day")
	s.fails(exitUsage, []string{"code: NX013"}, "task", "backfill", "close-day", "--from", "2026-01-04T00:00:00Z", "--to", "2026-01-01T00:00:00Z")
	s.fails(exitNotFound, []string{"code: NX108"}, "task", "backfill", "other", "--from", "2026-01-04T00:00:00Z")
	s.ok("task", "run-now", "close-day")

	s.as(db, "nexus_reader")
	type slot struct {
		Slot, Status, Reason string
	}
	want := []slot{
		{"2026-01-03T02:00:00+00:00", "fired", "backfill"}, {"2026-01-02T02:00:00+00:00", "fired", "backfill"}, {"2026-01-01T02:00:00+00:00", "fired", "backfill"},
	}
	if d := cmp.Diff(want, okJSON[[]slot](s, "task", "history", "close-day")); d != "" {
		t.Error(d)
	}
	if got := okJSON[[]struct {
		By string `json:"ran_by"`
	}](s, "task", "history", "close-day", "--by-hand"); len(got) != 1 || got[0].By == "" {
		t.Errorf("by hand: %v", got)
	}
	type task struct {
		Name    string
		Cron    string         `json:"cron_expression"`
		Payload map[string]int `json:"payload"`
		Fired   int
	}
	if d := cmp.Diff(task{"close-day", "0 2 * * *", map[string]int{"n": 1}, 3}, okJSON[task](s, "task", "show", "close-day")); d != "" {
		t.Error(d)
	}
	for _, verb := range []string{"show", "history"} {
		s.fails(exitNotFound, []string{`no task "other" in namespace "shop"`}, "task", verb, "other")
	}
}

// holds: verbs-look
func TestEventsListAndAttempts(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "order.placed", "order.paid", "cart.viewed")
	db.Namespace("mall")
	db.Exec("select core.emit('mall', 'order.placed')")
	s.as(db, "nexus_reader")
	listed := func(args ...string) string {
		t.Helper()
		var all []string
		for _, e := range okJSON[[]struct {
			Namespace string
			Type      string `json:"event_type"`
		}](s, append([]string{"events", "list"}, args...)...) {
			all = append(all, e.Namespace+"/"+e.Type)
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct{ args, want string }{
		{"", "mall/order.placed shop/cart.viewed shop/order.paid shop/order.placed"},
		{"-n shop", "shop/cart.viewed shop/order.paid shop/order.placed"},
		{"-n shop --type order.*", "shop/order.paid shop/order.placed"},
		{"--type order.placed --since 1h", "mall/order.placed shop/order.placed"},
		{"--before 2026-01-01T00:00:00Z", ""},
		{"--since 2100-01-01T00:00:00Z", ""},
	} {
		if got := listed(strings.Fields(c.args)...); got != c.want {
			t.Errorf("events list %s: %s, want %s", c.args, got, c.want)
		}
	}
	id := dbtest.Get[string](db, "select event_id::text from core.event_log where event_type = 'order.paid'")
	uid := dbtest.Get[string](db, "select event_uid::text from core.event_log where event_type = 'order.paid'")
	type attempt struct {
		Consumer, Action, Reason string
		Attempt                  int
	}
	for _, arg := range []string{id, uid} {
		if d := cmp.Diff([]attempt{{"default", "bury", "no", 1}}, okJSON[[]attempt](s, "events", "attempts", arg)); d != "" {
			t.Error(d)
		}
	}
	s.fails(exitNotFound, []string{`no event "999999"`}, "events", "attempts", "999999")
	s.fails(exitUsage, []string{"neither an event's id"}, "events", "attempts", "x")
}

// The log's index has a namespace's events by type, and a page is put together of all types. Many events are of one moment.
func TestPagesOfEachType(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Namespace("mall")
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6 {
		db.SetNow(start.Add(time.Duration(i) * time.Hour))
		db.Exec("select core.emit(n, t) from unnest(array['mall', 'shop']) n, unnest(array['a.x', 'a.y', 'b', 'rare']) t, generate_series(1, 3) where t <> 'rare' or $1 = 2", i)
		db.Exec(`select core.schedule_event(n, t, '{}', core.now() + interval '1 day') from unnest(array['mall', 'shop']) n, unnest(array['a.x', 'b']) t`)
	}
	db.Exec("select core.cancel_scheduled_event(schedule_id) from core.scheduled_events where event_type = 'b'")
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
		select n, 'delivery', to_jsonb(row_number() over ()), t, '{}', 1, core.now(), r from unnest(array['mall', 'shop']) n, unnest(array['a.x', 'b']) t,
		       unnest(array['short', repeat('long', 100)]) r, generate_series(1, 3)`)
	s.as(db, "nexus_reader")
	for _, c := range []struct{ list, key, rows string }{
		{"events list -n shop", "event_id", "core.event_log where namespace = 'shop' order by emitted_at desc, event_id desc"},
		{"events list -n shop --type a.*", "event_id", "core.event_log where namespace = 'shop' and event_type ~ '^a' order by emitted_at desc, event_id desc"},
		{"events list -n shop --type b", "event_id", "core.event_log where namespace = 'shop' and event_type = 'b' order by emitted_at desc, event_id desc"},
		{"events list -n shop --type none", "event_id", "core.event_log where false"},
		{"events list -n shop --since 2030-01-01T01:00:00Z --before 2030-01-01T03:00:00Z", "event_id", `core.event_log
			where namespace = 'shop' and emitted_at >= '2030-01-01 01:00Z' and emitted_at < '2030-01-01 03:00Z' order by emitted_at desc, event_id desc`},
		{"dlq list --type a.x", "dead_letter_id", "core.dead_letters where event_type = 'a.x' and resolved_at is null order by dead_letter_id"},
		{"dlq list --type a.x -n shop --reason short", "dead_letter_id", `core.dead_letters
			where event_type = 'a.x' and resolved_at is null and namespace = 'shop' and reason = 'short' order by dead_letter_id`},
		{"at list", "schedule_id", "core.scheduled_events where status = 'pending' order by due_at, schedule_id"},
		{"at list -n shop --type a.*", "schedule_id", "core.scheduled_events where status = 'pending' and namespace = 'shop' order by due_at, schedule_id"},
		{"at list --status cancelled", "schedule_id", "core.scheduled_events where status = 'cancelled' order by due_at, schedule_id"},
	} {
		want := dbtest.Get[[]string](db, "select coalesce(array_agg(key), '{}') from (select "+c.key+"::text as key from "+c.rows+") r")
		for _, limit := range []string{"2", "7", "0"} {
			var got []string
			for more := []string{}; ; {
				r := s.run(slices.Concat(strings.Fields(c.list), []string{"--limit", limit, "-o", "json"}, more)...)
				var rows []map[string]any
				dec := json.NewDecoder(strings.NewReader(r.out))
				dec.UseNumber()
				if err := dec.Decode(&rows); err != nil {
					t.Fatalf("%s: %v\n%s", c.list, err, r.errors)
				}
				for _, row := range rows {
					got = append(got, fmt.Sprint(row[c.key]))
				}
				if r.errors == "" {
					break
				}
				var said note
				if err := json.Unmarshal([]byte(r.errors), &said); err != nil || said.Left != len(want)-len(got) {
					t.Fatalf("%s --limit %s after %d of %d says %s, %v", c.list, limit, len(got), len(want), r.errors, err)
				}
				more = []string{"--cursor", said.Cursor}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s by pages of %s is\n%s, want\n%s", c.list, limit, got, want)
			}
		}
	}
}

// holds: verbs-look
func TestSweepsAndAudit(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a", "b")
	db.Exec(`select core.alter_settings('{"max_trigger_depth": 9}')`)
	s.as(db, "nexus_operator")
	s.ok("dlq", "discard", "1", "--note", "test order")
	s.ok("dlq", "replay", "2")
	s.as(db, "nexus_reader")
	type done struct {
		Action            string
		Namespace, Reason *string
	}
	note, shop := "test order", "shop"
	want := []done{{"replay_dead_letters", &shop, nil}, {"discard_dead_letters", &shop, &note}, {"alter_settings", nil, nil}}
	if d := cmp.Diff(want, okJSON[[]done](s, "audit")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[1:2], okJSON[[]done](s, "audit", "-n", "shop", "--action", "discard_dead_letters", "--since", "1h")); d != "" {
		t.Error(d)
	}
	if got := okJSON[[]json.RawMessage](s, "audit", "--since", "2100-01-01T00:00:00Z"); len(got) != 0 {
		t.Errorf("of the future: %s", got)
	}
	if out := s.ok("sweeps"); !strings.Contains(out, "reap ") || !strings.HasPrefix(out, "name ") {
		t.Errorf("sweeps prints\n%s", out)
	}
}
