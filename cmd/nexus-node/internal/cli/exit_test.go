package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
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
		if got := report(Env{Stderr: &out}, nil, asTable, c.err); got != c.want {
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
	faultOf(nil, &nexus.Error{
		Op: "emit", Code: "NX002", Message: "type '\x1b[2Jx' cannot\nbe", Field: "p_event_type", Detail: "d", Hint: "h",
	}).print(&out, asTable)
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

// With -o json stderr is JSON too, whatever went wrong, and wherever on the line the flag is.
// holds: json-errors
func TestErrorsInJSON(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	for _, c := range []struct {
		line string
		want fault
	}{
		{"namespace drop mall --confirm mall -o json", fault{"NX101", "there is no namespace 'mall'", "NAME", "", "Namespaces are listed in nexus-node namespace list.", exitNotFound}},
		{"emit -o json -n mall a", fault{"NX101", "there is no namespace 'mall'", "--namespace", "", "nexus-node namespace create mall", exitNotFound}},
		{"emit --output=json -n shop a..*", fault{Code: "NX002", Field: "TYPE", Exit: exitUsage}},
		{"queue peek -o json -n shop --limit 0", fault{"NX006", "--limit cannot be 0", "--limit", "", "Give 1 to 1000.", exitUsage}},
		{"namespace alter shop --retry-base 1h --retry-max 1s -o json", fault{Code: "NX007", Field: "--retry-base", Exit: exitUsage}},
		{"queue purge -n shop --confirm x -o json", fault{
			Code: "NX206", Field: "--confirm", Hint: "nexus-node queue purge core_events_shop --confirm core_events_shop", Exit: exitFailed,
		}},
		{"node forget nobody -n shop -o json", fault{Code: "NX104", Field: "ID", Hint: "Nodes are listed in nexus-node node list.", Exit: exitNotFound}},
		{"dlq show 12 -o json", fault{"", "no dead letter 12 that you may see", "", "", "nexus-node dlq list", exitNotFound}},
		{"dlq show seven -o json", fault{"", `"seven" is not a dead letter's id, which is a whole number`, "", "", "nexus-node dlq show --help", exitUsage}},
		{"version --wrong -o json", fault{"", "unknown flag: --wrong", "", "", "nexus-node version --help", exitUsage}},
		{"nonsense -ojson", fault{"", `there is no command "nonsense"`, "", "", "nexus-node --help", exitUsage}},
	} {
		r := s.run(strings.Fields(c.line)...)
		var got struct{ Error fault }
		if err := json.Unmarshal([]byte(r.errors), &got); err != nil || strings.Count(r.errors, "\n") != 1 || r.out != "" {
			t.Errorf("%s: %v\n%s%s", c.line, err, r.out, r.errors)
			continue
		}
		if c.want.Message == "" {
			got.Error.Message = ""
		}
		if c.want.Hint == "" {
			got.Error.Hint = ""
		}
		if d := cmp.Diff(c.want, got.Error); d != "" || r.code != c.want.Exit {
			t.Errorf("%s exits with %d: %s", c.line, r.code, d)
		}
	}
}

// What somebody named is not taken for a parameter, and a statement that no command does stays one.
// holds: json-errors
func TestWordsOfTheCommandLine(t *testing.T) {
	root := newRoot(Env{})
	find := func(line string) *cobra.Command {
		cmd, _, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	for _, c := range []struct{ line, text, want string }{
		{"emit", "event type 'p_event_type' is not; p_event_type is", "event type 'p_event_type' is not; TYPE is"},
		{"emit", "p_limit cannot be 0", "p_limit cannot be 0"},
		{"emit", "select core.resume_task('x'); core.task_status has it", "select core.resume_task('x'); core.task_status has it"},
		{"task backfill", "Tasks are listed in core.task_status.", "Tasks are listed in nexus-node task list."},
		{"namespace create", `Change it with: select core.alter_namespace('shop', '{"a": 1}');`, "Change it with: nexus-node namespace alter shop, with the same flags"},
		{"outbox drop", "drop it with all it holds: select core.outbox_drop_queue('shop', 'pay', true);", "drop it with all it holds: nexus-node outbox drop -n shop pay --confirm pay --force"},
		{"outbox skip", "If that one is meant: select core.lane_skip('shop', 'pay', 3, 'by hand', 5);", "If that one is meant: nexus-node outbox skip -n shop pay 3 --message 5 --reason 'by hand'"},
		{"consumer drop", "drop it: select core.drop_consumer('shop', 'mailer', true);", "drop it: nexus-node consumer drop -n shop mailer --confirm mailer --force"},
		{"emit", "select core.grant_namespace('shop', 'till', 'produce');", "nexus-node namespace grant shop till produce"},
	} {
		if got := sentence(find(c.line), c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
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
