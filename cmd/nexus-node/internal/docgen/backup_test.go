package docgen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/pgdev"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The lines of the guide run as they are written, in one shell, on a server of their own: they end with its roles gone. Between
// restore and upgrade the restored database has to work.
// holds: docs, others-restore
func TestBackupGuideRuns(t *testing.T) {
	platform, err := pgdev.Find()
	if err != nil {
		t.Skip(err)
	}
	if platform.Root != "" {
		t.Skip("the client programs of this platform run in a chroot only")
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "guides", "backup-and-upgrade.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(raw), -1)
	if len(blocks) != 6 {
		t.Fatalf("%d blocks in the guide", len(blocks))
	}
	cluster, err := pgdev.Start(t.Context(), pgdev.Options{Platform: platform, CronDatabase: "nexus"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "nexus-node"), "../../../../cmd/nexus-node").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(script string) {
		t.Helper()
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+platform.BinDir+":"+os.Getenv("PATH"), "NEXUS_DATABASE_URL="+cluster.URL("nexus"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v in\n%s\n%s", err, script, out)
		}
	}
	conn := func(database string) *pgx.Conn {
		t.Helper()
		c, err := pgx.Connect(t.Context(), cluster.URL(database))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	admin := conn("postgres")
	if _, err := admin.Exec(t.Context(), "create database nexus"); err != nil {
		t.Fatal(err)
	}
	_ = admin.Close(t.Context())
	run("nexus-node migrate up && nexus-node namespace create shop && nexus-node -n shop emit order.placed && nexus-node -n shop emit order.placed --delay 1h")

	script := []string{""} // each block sees the variables of those before it
	for _, b := range blocks[:2] {
		script = append(script, b[1])
	}
	run(strings.Join(script, "\n"))
	restored := conn("restored")
	var events, visible, delayed, months int
	err = restored.QueryRow(t.Context(), `
		select (select count(*) from core.event_log), m.visible, m.delayed, (select count(*) from core.partitions p where not p.is_default)
		  from core.queue_metrics m where m.queue_name = 'core_events_shop'`).Scan(&events, &visible, &delayed, &months)
	if err != nil || events != 2 || visible != 1 || delayed != 1 || months < 7 {
		t.Errorf("restored: %d events, %d visible, %d delayed, %d months: %v", events, visible, delayed, months, err)
	}
	var id int64
	err = restored.QueryRow(t.Context(), `select message_id from core.emit('shop', 'after')`).Scan(&id)
	if err != nil || id != 2 {
		t.Errorf("message %d after the restore, want 2: %v", id, err)
	}
	if _, err := restored.Exec(t.Context(), `select core.run_sweep('partitions')`); err != nil {
		t.Error(err)
	}
	var failing []string
	err = restored.QueryRow(t.Context(), `select coalesce(array_agg(name || ': ' || last_error), '{}') from core.sweep_status where last_error is not null`).Scan(&failing)
	if err != nil || len(failing) > 0 {
		t.Errorf("sweeps fail: %v %v", failing, err)
	}
	_ = restored.Close(t.Context())

	script = []string{`RESTORED_URL=$(printf '%s' "$NEXUS_DATABASE_URL" | sed -E 's|(//[^/]*/)[^?]*|\1restored|')`}
	for _, b := range blocks[2:] {
		script = append(script, b[1])
	}
	run(strings.Join(script, "\n"))
	last := conn("nexus")
	defer last.Close(t.Context())
	var left int
	err = last.QueryRow(t.Context(), `
		select (select count(*) from pg_roles where rolname like 'nexus%') + (select count(*) from pg_namespace where nspname like 'core%')
		     + (select count(*) from pgmq.meta) + (select count(*) from cron.job)`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d things are left: %v", left, err)
	}
}
