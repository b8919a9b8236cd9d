package invoke

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// The table of what a handler may count on, as far as it depends on how the handler ended.
// holds: H3-verdicts
func TestJudge(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		end   End
		cause error
		want  work.Result
	}{
		"nil":   {End{}, nil, work.Result{Action: work.Ack}},
		"error": {End{Err: boom}, nil, work.Result{Action: work.Retry, Reason: "error", Error: "boom"}},
		"retry": {End{Err: nexus.Retry(time.Hour)}, nil,
			work.Result{Action: work.Retry, After: time.Hour, Exact: true, Reason: "error", Error: "retry after 1h0m0s"}},
		"retry at once":             {End{Err: nexus.Retry(0)}, nil, work.Result{Action: work.Retry, Exact: true, Reason: "error", Error: "retry after 0s"}},
		"retry at a time just past": {End{Err: nexus.Retry(-time.Millisecond)}, nil, work.Result{Action: work.Retry, Exact: true, Reason: "error", Error: "retry after -1ms"}},
		"retry in a year": {End{Err: nexus.Retry(365 * 24 * time.Hour)}, nil,
			work.Result{Action: work.Retry, After: 30 * 24 * time.Hour, Exact: true, Reason: "error", Error: "retry after 8760h0m0s"}},
		"release at a time just past": {End{Err: nexus.Release(-time.Hour)}, nil, work.Result{Action: work.Release, Reason: "error", Error: "release after -1h0m0s"}},
		"release for a year": {End{Err: nexus.Release(365 * 24 * time.Hour)}, nil,
			work.Result{Action: work.Release, After: 30 * 24 * time.Hour, Reason: "error", Error: "release after 8760h0m0s"}},
		"reject":  {End{Err: nexus.Reject("no sku")}, nil, work.Result{Action: work.Reject, Reason: "no sku", Error: "reject: no sku"}},
		"release": {End{Err: nexus.Release(time.Minute)}, nil, work.Result{Action: work.Release, After: time.Minute, Reason: "error", Error: "release after 1m0s"}},
		"wrapped verdict": {End{Err: fmt.Errorf("charge: %w", nexus.Reject("declined"))}, nil,
			work.Result{Action: work.Reject, Reason: "declined", Error: "charge: reject: declined"}},
		"joined verdict, the first counts": {End{Err: errors.Join(boom, nexus.Reject("a"), nexus.Release(0))}, nil,
			work.Result{Action: work.Reject, Reason: "a", Error: "boom\nreject: a\nrelease after 0s"}},
		"undecodable": {End{Err: fmt.Errorf("%w: %w", ErrDecode, boom)}, nil,
			work.Result{Action: work.Retry, Reason: "decode", Error: "payload does not decode: boom"}},
		"panic": {End{Err: errors.New("panic: x"), Stack: []byte("main.go:7")}, nil,
			work.Result{Action: work.Retry, Reason: "panic", Error: "panic: x\n\nmain.go:7"}},
		"panic with a verdict is a panic": {End{Err: nexus.Reject("x"), Stack: []byte("main.go:7")}, nil,
			work.Result{Action: work.Retry, Reason: "panic", Error: "reject: x\n\nmain.go:7"}},
		"typed nil": {End{Err: (*nilPointer)(nil)}, nil,
			work.Result{Action: work.Retry, Reason: "error",
				Error: "*invoke.nilPointer, whose Error method panics: runtime error: invalid memory address or nil pointer dereference"}},
		"an error whose Unwrap panics": {End{Err: trap{}}, nil, work.Result{Action: work.Retry, Reason: "error", Error: "trap"}},

		"timeout":             {End{Err: context.DeadlineExceeded}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s: context deadline exceeded"}},
		"nil after timeout":   {End{}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s"}},
		"reject too late":     {End{Err: nexus.Reject("x")}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s: reject: x"}},
		"nil while draining":  {End{}, nexus.ErrDraining, work.Result{Action: work.Ack}},
		"error when drained":  {End{Err: boom}, nexus.ErrDraining, work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "boom"}},
		"reject when drained": {End{Err: nexus.Reject("x")}, nexus.ErrDraining, work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "reject: x"}},
		"panic when drained": {End{Err: boom, Stack: []byte("s")}, nexus.ErrDraining,
			work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "boom\n\ns"}},
		"nil when lost":   {End{}, nexus.ErrLeaseLost, work.Result{Action: work.Ack}}, // the fence refuses it, or it was ours after all
		"error when lost": {End{Err: boom}, nexus.ErrLeaseLost, work.Result{Action: work.Release, Reason: "nexus: lease lost", Error: "boom"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Judge(c.end, c.cause, time.Second)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type nilPointer struct{ text string }

func (e *nilPointer) Error() string { return e.text }

type trap struct{}

func (trap) Error() string { return "trap" }
func (trap) Unwrap() error { panic("no") }

func TestAPanicsStackIsKeptBesideAHugeValue(t *testing.T) {
	text := Failure(End{Err: errors.New(strings.Repeat("x", 1<<20)), Stack: []byte("handler.go:42")})
	if len(text) > work.MaxText || !strings.Contains(text, "handler.go:42") {
		t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-20:])
	}
}
