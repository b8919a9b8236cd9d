package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// threeOfAll fills a database so that every list has three rows at least.
func threeOfAll(t *testing.T) (*dbtest.DB, *shell) {
	t.Helper()
	db, s := onDatabase(t)
	for _, ns := range []string{"mall", "shop", "till"} {
		db.Namespace(ns)
		db.Exec("select core_node.register_node($1, $1 || '-1', true, '{}', '{\"broadcasts\": [\"*\"]}')", ns)
		db.Exec("select core.create_webhook($1, 'billing', 'https://billing.example', '{a}')", ns)
		db.Exec("select core.create_ingress_token($1, 'billing')", ns)
		for _, table := range []string{"a", "b", "c"} {
			name := ns + "_" + table
			db.Exec("create table public." + name + " (id integer primary key)")
			db.Exec("select core.watch_table($1, $2::text::regclass, 'rows')", ns, "public."+name)
		}
		db.Exec(`select core.create_trigger($1, 't' || i, '{"event": {"pattern": "never"}}', 'go:mail') from generate_series(1, 3) i`, ns)
		db.Exec("select core.kv_set($1, 'settings', 'key' || i, to_jsonb(i)) from generate_series(1, 3) i", ns)
		db.Exec("select core.outbox_register_queue($1, q, 3) from unnest('{jobs,more,other}'::text[]) q", ns)
		db.Exec(`insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at)
			select consumer_id, 'app.f(jsonb)', 'nexus_consumer'::regrole, 'x', core.now() from core.consumers where namespace = $1 and name = 'default'`, ns)
		db.Exec(`select core_node.register_workflow($1, 'w' || i, 1, '[{"name": "a", "kind": "step"}]'), core.start_workflow($1, 'w' || i) from generate_series(1, 3) i`, ns)
		db.Exec("select core.schedule_task($1, 'nightly', '0 3 * * *', 'a')", ns)
		db.Exec("select core.schedule_event($1, 'a', '{}', core.now() + interval '1 day')", ns)
		db.Exec("select core.emit($1, 'a') from generate_series(1, 3)", ns)
		db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
			values ($1, 'delivery', jsonb_build_object('of', $1::text), 'a', '{}', 1, core.now(), 'x')`, ns)
		db.Exec(`insert into core.task_slots (task_id, slot, namespace, status, recorded_at)
			select task_id, core.now() - i * interval '1 day', namespace, 'missed', core.now() from core.scheduled_tasks, generate_series(1, 3) i where namespace = $1`, ns)
		db.Exec(`insert into core.delivery_errors (namespace, consumer, queue_name, msg_id, event_uid, attempt, action, error, failed_at)
			select $1, 'default', 'core_events_' || $1, i, '01900000-0000-7000-8000-00000000beef', i, 'retry', 'x', core.now() from generate_series(1, 3) i`, ns)
		db.Exec(`insert into core.audit_log (happened_at, principal, action, namespace) values (core.now(), 'x', 'drain_node', $1)`, ns)
	}
	return db, s
}

// lists visits every command that lists what there is.
func lists(t *testing.T, visit func(verb string, cmd *cobra.Command)) {
	t.Helper()
	seen := 0
	each(t, func(cmd *cobra.Command) {
		if slices.Contains([]string{"list", "group", "diff", "peek", "history", "audit", "sweeps", "attempts", "cursors", "definitions"}, cmd.Name()) && !cmd.HasSubCommands() {
			seen++
			visit(strings.TrimPrefix(cmd.CommandPath(), "nexus-node "), cmd)
		}
	})
	if seen < 14 {
		t.Errorf("only %d lists were found", seen)
	}
}

// of are the arguments of those lists that need some.
var of = map[string]string{
	"queue peek": "core_events_shop", "task history": "nightly -n shop", "events attempts": "01900000-0000-7000-8000-00000000beef -n shop",
	"kv list": "settings", "outbox lanes": "jobs",
}

// What a list leaves out is said, with how much it is and how to see it.
// holds: lists-whole (every list, page by page)
func TestNoListLeavesOutInSilence(t *testing.T) {
	_, s := threeOfAll(t)
	lists(t, func(verb string, cmd *cobra.Command) {
		args := append(strings.Fields(verb), strings.Fields(of[verb])...)
		whole := s.run(append(args, "--limit", "100", "-o", "json")...)
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(whole.out), &all); err != nil || len(all) < 3 || whole.errors != "" {
			t.Fatalf("%s: %v, %d rows\n%s", verb, err, len(all), whole.errors)
		}
		r := s.run(append(args, "--limit", "2")...)
		if n := strings.Count(r.out, "\n"); n != 3 || !strings.HasPrefix(r.errors, "note: 2 shown, ") || !strings.Contains(r.errors, "--limit") {
			t.Errorf("%s --limit 2 prints %d lines and says %q", verb, n, r.errors)
		}
		if cmd.Flags().Lookup("cursor") == nil {
			return
		}
		// A page at a time is the whole, once.
		var pages []json.RawMessage
		more := []string{}
		for range len(all) + 1 {
			r := s.run(slices.Concat(args, more, []string{"--limit", "1", "-o", "json"})...)
			var one []json.RawMessage
			if err := json.Unmarshal([]byte(r.out), &one); err != nil || r.code != exitOK {
				t.Fatalf("%s %v: %v\n%s", verb, more, err, r.errors)
			}
			pages = append(pages, one...)
			if r.errors == "" {
				break
			}
			var said note
			if err := json.Unmarshal([]byte(r.errors), &said); err != nil || said.Left != len(all)-len(pages) || said.Shown != 1 || said.Cursor == "" {
				t.Fatalf("%s says %q, %v", verb, r.errors, err)
			}
			more = []string{"--cursor", said.Cursor}
		}
		if d := cmp.Diff(places(t, verb, all), places(t, verb, pages)); d != "" {
			t.Errorf("%s by pages:\n%s", verb, d)
		}
	})
}

// places are the rows without what goes on with time.
func places(t *testing.T, verb string, rows []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, r := range rows {
		var m map[string]any
		if err := json.Unmarshal(r, &m); err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		for name := range m {
			if strings.HasSuffix(name, "_seconds") {
				delete(m, name)
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// -n picks, and a namespace that is not there is no list of nothing.
// holds: lists-whole
func TestEveryListGoesByTheNamespace(t *testing.T) {
	_, s := threeOfAll(t)
	lists(t, func(verb string, cmd *cobra.Command) {
		if cmd.Name() == "peek" {
			return
		}
		args := append(strings.Fields(verb), strings.Fields(of[verb])...)
		if r := s.run(append(args, "-n", "nowhere")...); r.code != exitNotFound || r.out != "" {
			t.Errorf("%s -n nowhere ends with %d\n%s%s", verb, r.code, r.out, r.errors)
		}
		if r := s.run(append(args, "-n", "shop")...); strings.Contains(r.out, "mall") || strings.Contains(r.out, "till") {
			t.Errorf("%s -n shop shows others\n%s", verb, r.out)
		}
	})
}

// holds: lists-whole
func TestWhatTheLimitKeepsOutOfAReplayIsCounted(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
		select 'shop', 'delivery', jsonb_build_object('n', i), 'a', '{}', 1, core.now(), 'x' from generate_series(1, 1234) i`)
	if r := s.run("dlq", "replay", "-n", "shop", "--preview"); r.errors != "note: 1,000 of 1,234; --limit 0 takes all\n" {
		t.Errorf("a preview says %q", r.errors)
	}
	if r := s.run("dlq", "replay", "-n", "shop", "--preview", "--limit", "0"); r.errors != "" {
		t.Errorf("a preview of all says %q", r.errors)
	}
	type counts struct {
		Matched int
		Left    int `json:"left_out"`
	}
	for _, c := range []struct {
		args string
		want counts
	}{
		{"dlq discard -n shop --note x --dry-run", counts{1000, 234}},
		{"dlq replay -n shop --dry-run", counts{1000, 234}},
		{"dlq discard -n shop --note x --dry-run --limit 0", counts{1234, 0}},
		{"dlq resolve -n shop --note x --as ignored", counts{1000, 234}},
		{"dlq discard -n shop --note x", counts{234, 0}},
	} {
		if d := cmp.Diff(c.want, okJSON[counts](s, strings.Fields(c.args)...)); d != "" {
			t.Errorf("%s: %s", c.args, d)
		}
	}
}
