package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// asProgram makes the test's own binary the program, so that signals meet the main that is shipped.
const asProgram = "NEXUS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	dbtest.Main(m)
}

// A node that cannot say goodbye, since somebody holds a lock on its row, ends at once when it is told to a second time.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	cmd := exec.Command(os.Args[0], "run")
	cmd.Env = append(os.Environ(), asProgram+"=1", "NEXUS_DATABASE_URL="+db.URL, "NEXUS_NAMESPACE=shop", "NEXUS_NODE_ID=stuck")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	db.Wait("select state = 'active' from core.nodes where node_id = 'stuck'")

	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select from core.nodes where node_id = 'stuck' for update"); err != nil {
		t.Fatal(err)
	}
	terminate(t, cmd)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "node drains") {
	}
	db.Wait(`select exists (select from pg_stat_activity where datname = current_database()
		and wait_event_type = 'Lock')`)
	terminate(t, cmd)

	late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	for lines.Scan() {
		if strings.Contains(lines.Text(), "node stopped") {
			t.Error("it drained to the end")
		}
	}
	_ = cmd.Wait()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %s, not by the second signal", cmd.ProcessState)
	}
}

func terminate(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}
