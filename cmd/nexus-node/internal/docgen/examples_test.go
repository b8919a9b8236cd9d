package docgen_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Each example runs once, says on its standard output what it should, and leaves nothing on a queue. examples/4_test is a test itself.
// holds: docs
func TestExamplesRun(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+"/", "../../../../examples/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	says := map[string]string{
		"1_emit_handle": `(?s)^emitted [0-9a-f-]{36}\norder 7, attempt 1\nhandled 1\n$`,
		"2_leased":      `^sent to ann with key \S+\n$`,
		"3_databasesql": `^emitted [0-9a-f-]{36} duplicate false\n$`,
		"5_batch":       `^handled 1000\n$`,
		"7_webhook":     `^busy, come back in a second\norder.placed of order 7\n$`,
		"8_consumers":   `^mailer: mail about order 7\nstock: order 7, reserved\nhandled 2\n$`,
		"9_broadcast":   `^till-1: the rate is 19 %\ntill-2: the rate is 19 %\n$`,
		"10_request":    `^tea and a cup are 500 cents\nnothing: 422, the basket is empty\n$`,
		"11_workflow":   `^payment approved by ann\ncard declined\n1 left of 2\n$`,
		"12_trip":       `^not needed any more: room 7\nno trip: nobody has approved it\n$`,
		"13_outbox":     `^handled 5\nanna 250\nbert 60\n$`,
		"5_schedule":    `(?s)closing the day of account main, task \S+\nhandled 1\n$`,
	}
	more := map[string][]string{"7_webhook": {"nexus_operator"}}
	built, err := filepath.Glob(filepath.Join(bin, "*"))
	if err != nil || len(built) != len(says) {
		t.Fatalf("%d examples were built, %d are known: %v %v", len(built), len(says), built, err)
	}
	for name, want := range says {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			// The setup that the programs' comments name; they themselves run as an ordinary login.
			for _, namespace := range []string{"example_shop", "example_mail", "example_sql", "example_web", "example_hook", "example_ask", "example_flow", "example_trips", "example_bank"} {
				db.Namespace(namespace)
			}
			db.Exec(`select core.create_namespace(n, '{"default_consumer": "off"}') from unnest('{example_fan,example_all}'::text[]) n`)
			login, url := db.As(append([]string{"nexus_producer", "nexus_consumer"}, more[name]...)...)
			db.Exec("create table public.example_stock (sku text primary key, n int); insert into public.example_stock values ('tea', 2)")
			db.Exec("create table public.example_seats (seat int primary key, name text); insert into public.example_seats values (1)")
			db.Exec("grant select, update on public.example_stock, public.example_seats to " + login)
			db.Exec("select core.outbox_register_queue('example_bank', 'moves', 4)")
			db.Exec("create table public.example_balance (account text primary key, cents bigint not null check (cents >= 0))")
			db.Exec("grant select, insert, update on public.example_balance to " + login)
			db.Exec("create table public.example_views (id uuid primary key, page text, at timestamptz)")
			db.Exec("grant insert on public.example_views to " + login)
			// 3_databasesql only emits; nodes of others handle it.
			settled := `select count(*) > 0 from core.event_log`
			switch name {
			case "3_databasesql":
			case "11_workflow", "12_trip": // which emit nothing
				settled = `select count(*) = 0 from core_private.workflow_cursors`
			case "13_outbox":
				settled = `select sum(lag) = 0 and sum(seq) = 5 from core.lane_status`
			default:
				settled += ` having (select sum(queue_length) from core.queue_metrics where queue_name not like '%_dlq') = 0`
			}
			var out, log bytes.Buffer
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), url)
			cmd.Stdout, cmd.Stderr = &out, &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if name == "2_leased" { // it runs until it is told to stop
				db.Wait(settled)
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Error(err)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s%s", err, &out, &log)
			}
			if !regexp.MustCompile(want).Match(out.Bytes()) {
				t.Errorf("it says\n%s\nwhich is not %s", &out, want)
			}
			db.Wait(settled)
		})
	}
}
