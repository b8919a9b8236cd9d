package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// asProcess makes the test's own binary behave as nexus-node, for the tests that need a process to send signals to.
const asProcess = "NEXUS_TEST_AS_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) == "" {
		dbtest.Main(m)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Main(ctx, Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Config: config.Load, Version: "test",
	}, os.Args[1:]))
}
