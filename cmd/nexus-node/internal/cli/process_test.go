package cli

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// process starts nexus-node for real.
func process(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, stdout io.Reader, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), append(env, asProcess+"=1")...)
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stdout, stderr
}

// ends waits for the process and returns its exit code.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the process is still there after a minute")
	}
	return cmd.ProcessState.ExitCode()
}

func TestDev(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			temp := t.TempDir()
			// The server's account, not ours, walks down to its folder.
			for dir := temp; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd, stdout, stderr := process(t, []string{"TMPDIR=" + temp}, "dev")
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatalf("dev never got ready: %v\n%s", err, stderr)
			}
			address, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "NEXUS_DATABASE_URL=")
			if !found {
				t.Fatalf("the first line is %q", line)
			}
			looksReady(t, address)

			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := ends(t, cmd); code != exitOK {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if conn, err := net.Dial("tcp", u.Host); err == nil {
				_ = conn.Close()
				t.Error("somebody still listens on the server's port")
			}
			if strings.Contains(stderr.String(), u.User.String()) {
				t.Error("the log holds the password")
			}
		})
	}
}

// looksReady asks for what dev promises: the schema, the namespace, and a pg_cron that fires in this database.
func looksReady(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var namespaces, jobs int
	var cronHere bool
	err = conn.QueryRow(t.Context(), `select (select count(*) from core.namespaces where namespace = 'dev'),
		(select count(*) from cron.job where jobname = 'nexus:tick' and active and database = current_database()),
		current_setting('cron.database_name') = current_database()`).Scan(&namespaces, &jobs, &cronHere)
	if err != nil {
		t.Fatal(err)
	}
	if namespaces != 1 || jobs != 1 || !cronHere {
		t.Errorf("namespaces %d, tick jobs %d, pg_cron here %t", namespaces, jobs, cronHere)
	}
}

func TestRunDrainsOnSIGTERM(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	cmd, _, stderr := process(t, []string{
		"NEXUS_DATABASE_URL=" + db.URL, "NEXUS_NAMESPACE=shop", "NEXUS_NODE_ID=stock", "NEXUS_LOG_LEVEL=debug",
	}, "run")
	// It runs, and is not only registered.
	db.Wait("select exists (select from pg_stat_activity where datname = current_database() and application_name like 'nexus:%/stock listen')")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if state := dbtest.Get[string](db, "select state from core.nodes where node_id = 'stock'"); state != "stopped" {
		t.Errorf("the node is %s", state)
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	log := stderr.String()
	if password, _ := u.User.Password(); strings.Contains(log, ":"+password+"@") {
		t.Error("the log holds the database's URL")
	}
	for _, want := range []string{`"level":"debug"`, `"sql":`, `"module":"pgx"`, "node runs"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
}
