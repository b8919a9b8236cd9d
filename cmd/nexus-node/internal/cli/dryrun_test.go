package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Whoever reads what a dry run printed, a person or a script, can tell that nothing was done. Every verb that has one is here.
// holds: dry-run (every verb that has one)
func TestDryRunsSaySo(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 3)")
	db.Exec(`select core.emit('shop', 'a', '{}', '{"delay": "1 h"}')`)
	db.Exec("select core_node.register_node('shop', 'n', true, '{}')")
	db.Exec("select core.schedule_task('shop', 'nightly', '0 3 * * *', 'a')")
	db.Exec("update core_private.sweeps set failures = 3, last_error = 'boom' where name = 'reap'")
	db.Exec("create table public.watched (id integer primary key)")
	db.Exec("select core.create_webhook('shop', 'hook', 'https://a.example', '{never}'), core.create_ingress_token('shop', 'web'), core.kv_set('shop', 'settings', 'theme', '1'), core.outbox_register_queue('shop', 'jobs', 1), core.outbox_enqueue('shop', 'jobs', 'x', 't'), core.create_consumer('shop', 'mailer', '{never}'), core.create_handler('shop', 'go:spare'), core.watch_table('shop', 'public.watched', 'rows'), core.create_trigger('shop', 'mail', '{\"event\": {\"pattern\": \"never\"}}', 'go:mail')")
	db.Exec(`select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step"}]')`)
	run := dbtest.Get[string](db, "select run_id::text from core.start_workflow('shop', 'order')")
	pending := dbtest.Get[string](db, "select core.schedule_event('shop', 'a', '{}', core.now() + interval '1 day')::text")
	db.Exec(`do $$ declare m record; begin
		select * into m from core_node.claim('core_events_shop', '{a}', '{1}', 1, '30 s') where outcome = 'claimed';
		perform core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object(
			'id', m.msg_id, 'ct', m.read_ct, 'at', m.last_read_at, 'action', 'reject', 'reason', 'boom', 'error', 'boom'))); end $$`)
	tasks := filepath.Join(t.TempDir(), "tasks.yaml")
	if err := os.WriteFile(tasks, []byte("owner: me\nnamespace: shop\ntasks:\n  - {name: new, cron: '@every 1h', type: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{
		"at cancel":          pending,
		"at reschedule":      pending + " --in 2h",
		"consumer alter":     "-n shop mailer --pattern other --drop-unmatched",
		"consumer drop":      "-n shop mailer --confirm mailer --force",
		"dlq discard":        "-n shop --note x",
		"dlq expire":         "-n shop --note x",
		"dlq replay":         "-n shop",
		"dlq resolve":        "-n shop --note x --as ignored",
		"doctor":             "--fix",
		"events cancel":      "-n shop 2 --note x",
		"events run-now":     "-n shop 4",
		"events replay":      "-n shop --consumer default --type *",
		"ingress revoke":     "-n shop web",
		"kv delete":          "-n shop settings theme",
		"trigger delete":     "-n shop mail",
		"unwatch":            "public.watched",
		"handler drop":       "-n shop go:spare",
		"outbox drop":        "-n shop jobs --confirm jobs --force",
		"outbox release":     "-n shop jobs 0",
		"outbox skip":        "-n shop jobs 0 --reason x",
		"outbox repartition": "-n shop jobs --lanes 2",
		"outbox replay":      "-n shop jobs --from beginning",
		"webhook drop":       "-n shop hook",
		"workflow cancel":    run,
		"namespace drop":     "shop --confirm shop --force",
		"node drain":         "n",
		"node forget":        "n",
		"queue purge":        "-n shop --confirm core_events_shop",
		"task apply":         tasks,
		"task backfill":      "-n shop nightly --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z",
		"task delete":        "-n shop nightly",
	}
	each(t, func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("dry-run") == nil {
			return
		}
		verb := strings.TrimPrefix(cmd.CommandPath(), "nexus-node ")
		line, known := lines[verb]
		if !known {
			t.Errorf("%s has a dry run that is not tried", verb)
			return
		}
		args := append(strings.Fields(verb), strings.Fields(line)...)
		table, coded := s.run(append(args, "--dry-run")...), s.run(append(args, "--dry-run", "-o", "json")...)
		if !strings.Contains(table.out, "would") {
			t.Errorf("%s --dry-run prints what the real run would\n%s%s", verb, table.out, table.errors)
		}
		if verb == "outbox drop" && !strings.Contains(table.errors, "messages that have not ended (1)") {
			t.Errorf("it does not say how many messages are lost\n%s", table.errors)
		}
		if !saysDry(coded.out) {
			t.Errorf("%s --dry-run -o json does not say dry_run\n%s%s", verb, coded.out, coded.errors)
		}
	})
	if n := dbtest.Get[int](db, `select count(*)::int from core.namespaces n join core.nodes d using (namespace) join core.scheduled_tasks using (namespace)
		join core.unresolved_dead_letters using (namespace) join core.pending_scheduled_events using (namespace) join core.consumers c using (namespace)
		where d.drain_requested_at is null and c.patterns = '{never}' and c.name = 'mailer'`); n != 1 {
		t.Errorf("after the dry runs not all is as it was: %d", n)
	}
	// And the real run says nothing of the kind.
	each(t, func(cmd *cobra.Command) {
		verb := strings.TrimPrefix(cmd.CommandPath(), "nexus-node ")
		if cmd.Flags().Lookup("dry-run") == nil || verb == "namespace drop" {
			return
		}
		r := s.run(append(append(strings.Fields(verb), strings.Fields(lines[verb])...), "-o", "json")...)
		if saysDry(r.out) || strings.Contains(r.out, `"would`) {
			t.Errorf("%s says that it did nothing\n%s", verb, r.out)
		}
	})
}

// saysDry looks for dry_run in an object, or in each element of a list.
func saysDry(out string) bool {
	var one struct {
		DryRun bool `json:"dry_run"`
	}
	if json.Unmarshal([]byte(out), &one) == nil {
		return one.DryRun
	}
	var all []struct {
		DryRun bool `json:"dry_run"`
	}
	if json.Unmarshal([]byte(out), &all) != nil || len(all) == 0 {
		return false
	}
	for _, o := range all {
		if !o.DryRun {
			return false
		}
	}
	return true
}
