// Command nexus-node is Nexus for those who run it: a node, the migrations, the doctor and the verbs of the SQL surface.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/nexuspg/nexus/internal/cli"
	"github.com/nexuspg/nexus/internal/config"
)

// version is set by the linker; see the Makefile.
var version = "dev"

func main() {
	// The first signal asks to stop. After it the default holds again, so the second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)

	os.Exit(cli.Main(ctx, cli.Env{
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: isatty.IsTerminal(os.Stdout.Fd()),
		Config:   config.Load,
		Version:  version,
	}, os.Args[1:]))
}
