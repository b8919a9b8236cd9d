package cli

import (
	"strings"
	"testing"
)

// A mistake is told in words of the command line and never answered with nothing.
// holds: mistakes
func TestMistakesAreNamed(t *testing.T) {
	s := newShell(t)
	for line, want := range map[string]string{
		"emit":                                      "error: TYPE is missing",
		"events tail --type a*b":                    `error: --type is "a*b"; it takes an event type`,
		"emit a.b {} more":                          `error: "more" is one argument too many`,
		"dlq show":                                  "error: ID is missing",
		"dlq list 4":                                `error: "4" is one argument too many`,
		"namespace create":                          "error: NAME is missing",
		"emit a.b --dedupe-key=":                    "error: --dedupe-key is empty",
		"emit a.b --ordering-key=":                  "error: --ordering-key is empty",
		"emit a.b --correlation-id=":                "error: --correlation-id is empty",
		"emit a.b --causation-uid=":                 "error: --causation-uid is empty",
		"emit a.b --producer=":                      "error: --producer is empty",
		"emit a.b --deliver-at=":                    "error: --deliver-at is empty",
		"emit a.b --file=":                          "error: --file is empty",
		"emit a.b --tag=x --tag=":                   "error: --tag is empty",
		"dlq replay 4 --payload=":                   "error: --payload is empty",
		"dlq discard --note=x --reason=":            "error: --reason is empty",
		"dlq list --type=":                          "error: --type is empty",
		"dlq list --source nonsense":                `error: --source is "nonsense"; it takes delivery, broadcast, lane, task`,
		"dlq replay --source nonsense":              `error: --source is "nonsense"; it takes delivery, broadcast, lane, task`,
		"dlq list --type a*b":                       `error: --type is "a*b"; it takes an event type, or a pattern`,
		"at list --type .a":                         `error: --type is ".a"; it takes`,
		"dlq list --source delivery --limit -1":     "error: --limit cannot be negative",
		"at list --limit -1":                        "error: --limit cannot be negative",
		"task list --cursor x":                      `error: --cursor "x" does not come from a list`,
		"task list --cursor WyJkbHEgbGlzdCIsIjEiXQ": `error: --cursor is one of "dlq list"`,
	} {
		r := s.run(strings.Fields(line)...)
		if r.code != exitUsage || !strings.HasPrefix(r.errors, want) {
			t.Errorf("%s: exit code %d and %q, want %d and %q", line, r.code, r.errors, exitUsage, want)
		}
	}
}

// What is named and is not there is not found, also if the rest is.
// holds: mistakes
func TestWhatIsNotThereIsSaid(t *testing.T) {
	db, s := onDatabase(t)
	buried(t, db, "shop", "no", "a", "b", "c")
	for _, c := range []struct{ line, want string }{ // in this order: what is there is done
		{"dlq list -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"dlq group -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"task list -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"consumer list -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"node list -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"events tail -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"at list -n nowhere", `error: there is no namespace "nowhere" that you may see`},
		{"outbox lanes nothing -n shop", `error: no outbox queue and no ordered consumer "nothing" that you may see`},
		{"dlq replay 1 999", "error: not among the unresolved dead letters: 999"},
		{"dlq discard 1 2 --note x", "error: not among the unresolved dead letters: 1"},
		{"dlq resolve 3 1000 --as ignored --note x", "error: not among the unresolved dead letters: 1000"},
		{"dlq replay 998 999 --dry-run", "error: not among the unresolved dead letters: 998, 999"},
	} {
		if r := s.run(strings.Fields(c.line)...); r.code != exitNotFound || !strings.Contains(r.errors, c.want) {
			t.Errorf("%s: exit code %d and %q, want %d and %q", c.line, r.code, r.errors, exitNotFound, c.want)
		}
	}
}
