package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// atTerminal is the shell of somebody who looks on.
func (s *shell) atTerminal(width int) *shell {
	s.env.Width, s.env.StderrTerminal = func() int { return width }, true
	return s
}

// holds: terminal
func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-29T12:00:00.4+00:00": "now", "2026-11-29T11:59:01+00:00": "59s ago", "2026-11-29T11:57:00.1Z": "2m ago", "2026-11-29T14:00:00+00:00": "in 2h",
		"2026-11-27T10:00:00+00:00": "2d ago", "2026-01-02T10:00:00+01:00": "2026-01-02", "2026-11-29": "2026-11-29", "at 2026-11-29T12:00:00Z": "at 2026-11-29T12:00:00Z",
	} {
		cells := []string{text, text}
		inWordsOfTime([]string{"emitted_at", "slot"}, cells, now)
		if cells[0] != want || cells[1] != text {
			t.Errorf("%s is %q, and as a slot %q; want %q", text, cells[0], cells[1], want)
		}
	}
}

// Every list is on the terminal's lines, in relative times, and sends none of what others wrote as a command; a pipe gets all of it.
// holds: terminal (every list), others-text
func TestHostileTextAtATerminal(t *testing.T) {
	db, s := threeOfAll(t)
	const hostile = "\x1b[2J\x1b]0;title\a two\nlines\r\u202e\u2066 \u200b\u009b31m 漢字 "
	db.Exec("update core.dead_letters set reason = $1, last_error = $1", hostile+strings.Repeat("x", 300))
	db.Exec("update core.delivery_errors set reason = $1, error = $1, node_id = $1", hostile+strings.Repeat("x", 300))
	db.Exec("insert into core.audit_log (happened_at, principal, action, namespace, reason, target, details) select core.now(), $1, 'x', 'shop', $1, $1, jsonb_build_object($1::text, $1::text)", hostile+strings.Repeat("x", 300))
	db.Exec("update core.namespaces set metadata = jsonb_build_object($1::text, $1::text)", hostile+strings.Repeat("x", 300))
	db.Exec("update core.event_log set correlation_id = $1, producer_node_id = $1", hostile+strings.Repeat("x", 300))
	lists(t, func(verb string, _ *cobra.Command) {
		args := append(strings.Fields(verb), strings.Fields(of[verb])...)
		s.env = Env{}
		piped := s.run(args...)
		shown := s.atTerminal(200).run(args...)
		for _, r := range []result{piped, shown} {
			if i := strings.IndexFunc(r.out+r.errors, func(r rune) bool { return r != '\n' && isControl(r) }); i >= 0 || r.code > 1 {
				t.Errorf("%s exits with %d, and controls the terminal at %d of %q", verb, r.code, i, r.out+r.errors)
			}
			if a, b := strings.Count(r.out, "\n"), strings.Count(piped.out, "\n"); a != b {
				t.Errorf("%s prints %d lines, and %d in a pipe", verb, a, b)
			}
		}
		for line := range strings.Lines(shown.out) {
			if n := columns(strings.TrimRight(line, "\n")); n > 200 {
				t.Errorf("%s prints a line of %d columns: %s", verb, n, line)
			}
		}
		if strings.Contains(piped.out, "…") || strings.Contains(piped.out, " ago") {
			t.Errorf("%s in a pipe:\n%s", verb, piped.out)
		}
	})
	if out := s.run("dlq", "list").out; !strings.Contains(out, " ago") && !strings.Contains(out, "now") || !strings.Contains(out, "…") {
		t.Errorf("at a terminal:\n%s", out)
	}
}

// holds: terminal
func TestProgress(t *testing.T) {
	var errs bytes.Buffer
	p := progress{session: &session{Env: Env{Stderr: &errs, StderrTerminal: true}}, total: 2000}
	for n := range 2 {
		p.at((n+1)*1000, fmt.Sprint("done ", 10-n*9))
	}
	p.end()
	if want := "\r 50% of 2,000: done 10\r100% of 2,000: done 1 \n"; errs.String() != want {
		t.Errorf("%q, want %q", errs.String(), want)
	}
}

// holds: terminal
func TestProgressOfAReplayKnowsItsTotal(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
		select 'shop', 'delivery', jsonb_build_object('n', i), 'a', '{}', 1, core.now(), 'x' from generate_series(1, 1500) i`)
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 10001)")
	s.atTerminal(80)
	if r := s.run("dlq", "discard", "-n", "shop", "--note", "x", "--limit", "0", "--dry-run"); !strings.Contains(r.errors, "\r 66% of 1,500: 1000 matched") || !strings.HasSuffix(r.errors, "\n") {
		t.Errorf("discard says %q", r.errors)
	}
	if r := s.run("queue", "purge", "-n", "shop", "--confirm", "core_events_shop", "--dry-run"); !strings.Contains(r.errors, "% of 10,") {
		t.Errorf("purge says %q", r.errors)
	}
	s.env = Env{}
	if r := s.run("dlq", "discard", "-n", "shop", "--note", "x", "--limit", "0", "--dry-run"); strings.Contains(r.errors, "\r") || !strings.HasPrefix(r.errors, "note: 1000 matched, ") {
		t.Errorf("in a pipe discard says %q", r.errors)
	}
}
