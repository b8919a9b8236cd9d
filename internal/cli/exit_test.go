package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/config"
)

func TestExitCodes(t *testing.T) {
	of := func(code string) error { return fmt.Errorf("wrapped: %w", &nexus.Error{Op: "x", Code: code}) }
	for _, c := range []struct {
		what string
		err  error
		want int
	}{
		{"nothing", nil, exitOK},
		{"an error of no family", errors.New("x"), exitFailed},
		{"a conflict", of(nexus.CodeNamespaceNotEmpty), exitFailed},
		{"a missing right", of("42501"), exitFailed},
		{"the schema", of(nexus.CodeSchemaOlder), exitFailed},
		{"an invalid argument", of(nexus.CodeEventType), exitUsage},
		{"a usage error", &usageError{message: "x"}, exitUsage},
		{"a setting", &config.Error{Name: "X"}, exitUsage},
		{"what the database did not find", of(nexus.CodeNoNamespace), exitNotFound},
		{"what a select did not find", &notFound{message: "x"}, exitNotFound},
		{"a database that is away", of("08001"), exitUnavailable},
		{"a read-only server", of("25006"), exitUnavailable},
		{"being stopped", context.Canceled, exitFailed},
		{"a verdict", verdict(2), 2},
	} {
		var out strings.Builder
		if got := report(Env{Stderr: &out}, c.err); got != c.want {
			t.Errorf("%s exits with %d, want %d", c.what, got, c.want)
		}
		if silent := isA[verdict](c.err); (silent || c.err == nil) != (out.Len() == 0) {
			t.Errorf("%s says %q", c.what, &out)
		}
	}
}

func TestMistakesOnTheCommandLine(t *testing.T) {
	s := newShell(t)
	for line, words := range map[string]string{
		"":                             "a command is missing",
		"nonsense":                     `there is no command "nonsense"`,
		"emitt":                        "did you mean emit?",
		"namespace":                    "a command is missing",
		"namespace creat x":            "did you mean create?",
		"emit":                         "hint: nexus-node emit --help",
		"emit a b c":                   "hint: nexus-node emit --help",
		"version -o yaml":              "it takes table or json",
		"version --wrong":              "unknown flag: --wrong",
		"emit x {} --file y":           "the payload is given twice",
		"emit x --header novalue":      "it takes NAME=VALUE",
		"emit x --deliver-at tomorrow": "2026-11-28T09:00:00Z",
		"emit x --causation-uid 7":     "it takes a UUID",
		"events show seven":            "neither an event's id",
		"dlq show seven":               "a whole number",
		"dlq replay":                   "nothing says which dead letters",
		"dlq discard 1":                "--note is missing",
		"namespace create x --default-consumer maybe": "it takes on or off",
	} {
		s.fails(exitUsage, []string{"error: ", words}, strings.Fields(line)...)
	}
}

func TestMissingSettings(t *testing.T) {
	s := newShell(t)
	s.fails(exitUsage, []string{"error: NEXUS_DATABASE_URL is not set"}, "namespace", "list")
	s.fails(exitUsage, []string{"error: NEXUS_NAMESPACE is not set"}, "run")
	s.env.Config = func() (*config.Config, []string, error) {
		return nil, nil, &config.Error{Name: "NEXUS_LEASE", Value: "x", Accepts: "a duration"}
	}
	s.fails(exitUsage, []string{`error: NEXUS_LEASE is "x"; it takes a duration`, "hint: "}, "namespace", "list")
}

func TestAnUnreachableDatabaseIsToldWithoutItsPassword(t *testing.T) {
	s := newShell(t)
	s.cfg.DatabaseURL = "postgres://me:hunter2@127.0.0.1:1/app"
	for _, args := range [][]string{{"namespace", "list"}, {"migrate", "up"}, {"emit", "-n", "shop", "x"}} {
		s.fails(exitUnavailable, []string{"error: ", "127.0.0.1:1", "hint: ", "code: 08001"}, args...)
	}
	r := s.run("doctor")
	if r.code != exitUsage || !strings.Contains(r.out, "broken") {
		t.Errorf("doctor without a database: exit code %d\n%s", r.code, r.out)
	}
	for _, args := range [][]string{{"namespace", "list"}, {"doctor"}, {"config"}, {"config", "-o", "json"}} {
		if r := s.run(args...); strings.Contains(r.out+r.errors, "hunter2") {
			t.Errorf("%v shows the password:\n%s%s", args, r.out, r.errors)
		}
	}
}

func TestErrorsArePrintedInParts(t *testing.T) {
	var out strings.Builder
	printError(&out, &nexus.Error{
		Op: "emit", Code: "NX002", Message: "type '\x1b[2Jx' cannot\nbe", Field: "p_event_type", Detail: "d", Hint: "h",
	})
	want := `error: type '\x1b[2Jx' cannot be
field: p_event_type
detail: d
hint: h
code: NX002
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

func TestWarningsGoToStderr(t *testing.T) {
	s := newShell(t)
	s.env.Config = func() (*config.Config, []string, error) { return &config.Config{}, []string{"both are set"}, nil }
	r := s.run("config")
	if !strings.Contains(r.errors, "warning: both are set") || strings.Contains(r.out, "warning") {
		t.Errorf("stdout\n%sstderr\n%s", r.out, r.errors)
	}
}
