// Command nexus-node is Nexus for those who run it: a node, the migrations, the doctor and the verbs of the SQL surface.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/cli"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// version is set by the linker; see the Makefile.
var version = "dev"

func main() {
	// The first signal asks to stop. After it the default holds again, so the second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)

	os.Exit(cli.Main(ctx, cli.Env{
		Stdin:          os.Stdin,
		Stdout:         os.Stdout,
		Stderr:         os.Stderr,
		Width:          terminalWidth(os.Stdout),
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Config:         config.Load,
		Version:        version,
	}, os.Args[1:]))
}

// terminalWidth asks the terminal each time, since windows are resized; nil if f is none.
func terminalWidth(f *os.File) func() int {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			return 80
		}
		return columns
	}
}
