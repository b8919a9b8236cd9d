package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/config"
)

// The exit codes; docs/reference/cli.md explains them to users. Doctor's verdict uses the first three.
const (
	exitOK          = 0 // done; doctor: all is well
	exitFailed      = 1 // not done, for a reason no other code names; doctor: warnings
	exitUsage       = 2 // the command line, a setting or an argument is wrong: again will fail again; doctor: broken
	exitNotFound    = 3 // what was named does not exist
	exitUnavailable = 4 // the database is away: again may succeed
)

// usageError is a mistake on the command line.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

func usage(cmd *cobra.Command, message string) error {
	return &usageError{message: message, hint: cmd.CommandPath() + " --help"}
}

// notFound is for what a select did not find, where no function of the core was there to raise NX1….
type notFound struct{ message, hint string }

func (e *notFound) Error() string { return e.message }

// verdict is an exit code without words: everything was printed already.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }

// report prints err, if there is one, and returns the exit code.
func report(env Env, err error) int {
	if err == nil {
		return exitOK
	}
	if v, ok := errors.AsType[verdict](err); ok {
		return int(v)
	}
	printError(env.Stderr, err)
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case isA[*usageError](err), isA[*config.Error](err), errors.Is(err, nexus.ErrInvalid):
		return exitUsage
	case isA[*notFound](err), errors.Is(err, nexus.ErrNotFound):
		return exitNotFound
	case errors.Is(err, nexus.ErrUnavailable):
		return exitUnavailable
	}
	return exitFailed
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// printError writes one line a part: what is wrong, where, how to mend it, and the code to look up. Control characters are
// shown, not sent: a message may quote what somebody emitted.
func printError(w io.Writer, err error) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s: %s\n", label, printable(strings.Join(strings.Fields(text), " ")))
		}
	}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		line("error", e.Message)
		line("field", e.Field)
		line("detail", e.Detail)
		line("hint", cmp.Or(e.Hint, connectHint(e)))
		line("code", e.Code)
		return
	}
	if errors.Is(err, context.Canceled) {
		line("error", "stopped before it was done")
		return
	}
	line("error", err.Error())
	if e, ok := errors.AsType[*usageError](err); ok {
		line("hint", e.hint)
	}
	if e, ok := errors.AsType[*notFound](err); ok {
		line("hint", e.hint)
	}
	if isA[*config.Error](err) {
		line("hint", "nexus-node config --help")
	}
}

// connectHint is for errors that come from no server, which could have given a hint.
func connectHint(e *nexus.Error) string {
	if e.Code == "08001" {
		return "see whether the server runs; " + config.EnvDatabaseURL + " names it"
	}
	return ""
}
