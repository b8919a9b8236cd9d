package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/pgdev"
)

// asCommand makes the test binary be the command itself.
const asCommand = "NEXUS_WITH_POSTGRES_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		prepare = nil // what is in the cluster is no matter here, and all of `make test` runs on what is
		main()
	}
	os.Exit(m.Run())
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--"}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func code(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want int
	}{
		"success":        {[]string{"true"}, 0},
		"the command's":  {[]string{"sh", "-c", "exit 42"}, 42},
		"died of TERM":   {[]string{"sh", "-c", "kill -TERM $$"}, 128 + int(syscall.SIGTERM)},
		"no command":     {nil, ownFailure},
		"not found":      {[]string{"nexus-no-such-command"}, notFound},
		"not executable": {[]string{"/"}, cantRun},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, test.args...)
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			if got := code(t, cmd.Run()); got != test.want {
				t.Errorf("exit code %d, want %d\n%s", got, test.want, complaints.Bytes())
			}
		})
	}
}

func TestCommandGetsACronDatabaseThatIsGoneAfterwards(t *testing.T) {
	t.Parallel()
	out, err := command(t, "sh", "-c", `echo "$NEXUS_TEST_DATABASE_URL $NEXUS_TEST_CRON_DATABASE"; cat`).Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 || fields[1] != pgdev.TestCronDatabase {
		t.Fatalf("environment: %q", out)
	}
	if conn, err := pgx.Connect(t.Context(), fields[0]); err == nil {
		conn.Close(context.Background())
		t.Error("the cluster outlived the command")
	}
}

func TestSignalReachesTheCommandAndTheClusterIsStopped(t *testing.T) {
	t.Parallel()
	cmd := command(t, "sh", "-c", `trap 'exit 9' TERM; echo "$NEXUS_TEST_DATABASE_URL"; while :; do sleep 0.05; done`)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	if _, err := url.Parse(address); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("no cluster while the command runs: %v", err)
	}
	conn.Close(context.Background())
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := code(t, cmd.Wait()); got != 9 {
		t.Errorf("exit code %d, want the trap's 9", got)
	}
	if conn, err := pgx.Connect(t.Context(), address); err == nil {
		conn.Close(context.Background())
		t.Error("the cluster outlived the signal")
	}
}
