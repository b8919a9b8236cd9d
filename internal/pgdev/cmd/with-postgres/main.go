// Command with-postgres runs a command against a PostgreSQL cluster of its own:
//
//	with-postgres -- go test ./...
//
// It starts one cluster tuned for tests, sets NEXUS_TEST_DATABASE_URL (superuser, database postgres) and
// NEXUS_TEST_CRON_DATABASE for the command, passes signals on, and ends with the command's exit code once the cluster is gone.
// 125 is its own failure, 126 and 127 mean that the command can't be run or found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// prepare fills the cluster's template database before the command runs.
var prepare pgdev.Prepare = dbtest.BuildTemplate

const (
	ownFailure = 125
	cantRun    = 126
	notFound   = 127
)

func main() {
	keep := flag.Bool("keep-dir", false, "leave the cluster's folder behind, with the server's log")
	verbose := flag.Bool("v", false, "tell what happens to the cluster")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: with-postgres [flags] -- command [argument …]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(ownFailure)
	}
	options := pgdev.Options{KeepDir: *keep}
	if *verbose {
		options.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	os.Exit(run(options, flag.Args()))
}

func run(options pgdev.Options, command []string) int {
	// Registered before the start, so that no signal can end us between the cluster's birth and its Stop.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	cluster, err := start(options, signals)
	if err != nil {
		return fail(err)
	}
	code := runChild(cluster, command, signals)

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		return fail(err)
	}
	return code
}

// start gives up when a signal comes: there is no command yet that could be asked what to do.
func start(options pgdev.Options, signals <-chan os.Signal) (*pgdev.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	started := make(chan struct{})
	defer close(started)
	go func() {
		select {
		case s := <-signals:
			giveUp(fmt.Errorf("stopped by signal: %v", s))
		case <-started:
		}
	}()
	return pgdev.StartForTests(ctx, options, prepare)
}

func runChild(cluster *pgdev.Cluster, command []string, signals <-chan os.Signal) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"NEXUS_TEST_DATABASE_URL="+cluster.URL("postgres"),
		"NEXUS_TEST_CRON_DATABASE="+pgdev.TestCronDatabase,
	)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return notFound
		}
		return cantRun
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // already gone: ended tells
		case err := <-ended:
			return exitCode(cmd, err)
		}
	}
}

// exitCode follows the shell: 128 + n for a command that died of signal n.
func exitCode(cmd *exec.Cmd, err error) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	if err != nil && cmd.ProcessState.Success() {
		return fail(err)
	}
	return cmd.ProcessState.ExitCode()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "with-postgres:", err)
	return ownFailure
}
