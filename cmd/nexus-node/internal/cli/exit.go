package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/queue"
)

// The exit codes; docs/reference/cli.md explains them to users. Doctor's verdict uses the first three and the last.
const (
	exitOK          = 0 // done; doctor: all is well
	exitFailed      = 1 // not done, for a reason no other code names; doctor: warnings
	exitUsage       = 2 // the command line, a setting or an argument is wrong: again will fail again; doctor: broken
	exitNotFound    = 3 // what was named does not exist
	exitUnavailable = 4 // the database is away: again may succeed
	exitUnknown     = 5 // doctor: all is well as far as this login sees, which is not all
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

// report prints err, if there is one, and returns the exit code. cmd is the command that failed, if it came to one.
func report(env Env, cmd *cobra.Command, format string, err error) int {
	if err == nil {
		return exitOK
	}
	if v, ok := errors.AsType[verdict](err); ok {
		return int(v)
	}
	faultOf(cmd, err).print(env.Stderr, format)
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case isA[*usageError](err), isA[*config.Error](err), errors.Is(err, nexus.ErrInvalid):
		return exitUsage
	case isA[*notFound](err), errors.Is(err, nexus.ErrNotFound):
		return exitNotFound
	case errors.Is(err, nexus.ErrUnavailable), isUnanswered(err):
		return exitUnavailable
	}
	return exitFailed
}

// isUnanswered reports whether a request found no node that has the handler.
func isUnanswered(err error) bool {
	e, ok := errors.AsType[*queue.ReplyError](err)
	return ok && e.Status == http.StatusServiceUnavailable
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// fault is an error as it is told: what is wrong, where, how to mend it, and the code to look up.
type fault struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit_code"`
}

// faultOf tells err in the words of the command.
func faultOf(cmd *cobra.Command, err error) fault {
	f := fault{Message: err.Error(), Exit: exitCode(err)}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		f.Code, f.Detail = e.Code, e.Detail
		f.Message, f.Hint = sentence(cmd, e.Message), sentence(cmd, cmp.Or(e.Hint, connectHint(e)))
		if e.Field != "" {
			f.Field = inWords(cmd, e.Field)
		}
		return f
	}
	if errors.Is(err, context.Canceled) {
		f.Message = "stopped before it was done"
		return f
	}
	if e, ok := errors.AsType[*usageError](err); ok {
		f.Hint = e.hint
	}
	if e, ok := errors.AsType[*notFound](err); ok {
		f.Hint = e.hint
	}
	if isA[*config.Error](err) {
		f.Hint = "nexus-node config --help"
	}
	return f
}

// print writes a line a part, or one object with -o json. Control characters are shown, not sent: a message may quote what somebody
// emitted.
func (f fault) print(w io.Writer, format string) {
	if format == asJSON {
		if encoded, err := encodeLine(map[string]fault{"error": f}); err == nil {
			fmt.Fprintf(w, "%s\n", encoded)
		}
		return
	}
	for _, part := range []struct{ label, text string }{
		{"error", f.Message}, {"field", f.Field}, {"detail", f.Detail}, {"hint", f.Hint}, {"code", f.Code},
	} {
		if part.text != "" {
			fmt.Fprintf(w, "%s: %s\n", part.label, printable(strings.Join(strings.Fields(part.text), " ")))
		}
	}
}

// connectHint is for errors that come from no server, which could have given a hint.
func connectHint(e *nexus.Error) string {
	if e.Code == "08001" {
		return "see whether the server runs; " + config.EnvDatabaseURL + " names it"
	}
	return ""
}
