package consume

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
func TestJudge(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		end   ended
		cause error
		want  work.Result
	}{
		"nil":   {ended{}, nil, work.Result{Action: work.Ack}},
		"error": {ended{err: boom}, nil, work.Result{Action: work.Retry, Reason: "error", Error: "boom"}},
		"retry": {ended{err: nexus.Retry(time.Hour)}, nil,
			work.Result{Action: work.Retry, After: time.Hour, Exact: true, Reason: "error", Error: "retry after 1h0m0s"}},
		"retry at once":             {ended{err: nexus.Retry(0)}, nil, work.Result{Action: work.Retry, Exact: true, Reason: "error", Error: "retry after 0s"}},
		"retry at a time just past": {ended{err: nexus.Retry(-time.Millisecond)}, nil, work.Result{Action: work.Retry, Exact: true, Reason: "error", Error: "retry after -1ms"}},
		"retry in a year": {ended{err: nexus.Retry(365 * 24 * time.Hour)}, nil,
			work.Result{Action: work.Retry, After: 30 * 24 * time.Hour, Exact: true, Reason: "error", Error: "retry after 8760h0m0s"}},
		"release at a time just past": {ended{err: nexus.Release(-time.Hour)}, nil, work.Result{Action: work.Release, Reason: "error", Error: "release after -1h0m0s"}},
		"release for a year": {ended{err: nexus.Release(365 * 24 * time.Hour)}, nil,
			work.Result{Action: work.Release, After: 30 * 24 * time.Hour, Reason: "error", Error: "release after 8760h0m0s"}},
		"reject":  {ended{err: nexus.Reject("no sku")}, nil, work.Result{Action: work.Reject, Reason: "no sku", Error: "reject: no sku"}},
		"release": {ended{err: nexus.Release(time.Minute)}, nil, work.Result{Action: work.Release, After: time.Minute, Reason: "error", Error: "release after 1m0s"}},
		"wrapped verdict": {ended{err: fmt.Errorf("charge: %w", nexus.Reject("declined"))}, nil,
			work.Result{Action: work.Reject, Reason: "declined", Error: "charge: reject: declined"}},
		"joined verdict, the first counts": {ended{err: errors.Join(boom, nexus.Reject("a"), nexus.Release(0))}, nil,
			work.Result{Action: work.Reject, Reason: "a", Error: "boom\nreject: a\nrelease after 0s"}},
		"undecodable": {ended{err: fmt.Errorf("%w: %w", ErrDecode, boom)}, nil,
			work.Result{Action: work.Retry, Reason: "decode", Error: "payload does not decode: boom"}},
		"panic": {ended{err: errors.New("panic: x"), stack: []byte("main.go:7")}, nil,
			work.Result{Action: work.Retry, Reason: "panic", Error: "panic: x\n\nmain.go:7"}},
		"panic with a verdict is a panic": {ended{err: nexus.Reject("x"), stack: []byte("main.go:7")}, nil,
			work.Result{Action: work.Retry, Reason: "panic", Error: "reject: x\n\nmain.go:7"}},
		"typed nil": {ended{err: (*nilPointer)(nil)}, nil,
			work.Result{Action: work.Retry, Reason: "error",
				Error: "*consume.nilPointer, whose Error method panics: runtime error: invalid memory address or nil pointer dereference"}},
		"an error whose Unwrap panics": {ended{err: trap{}}, nil, work.Result{Action: work.Retry, Reason: "error", Error: "trap"}},

		"timeout":             {ended{err: context.DeadlineExceeded}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s: context deadline exceeded"}},
		"nil after timeout":   {ended{}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s"}},
		"reject too late":     {ended{err: nexus.Reject("x")}, context.DeadlineExceeded, work.Result{Action: work.Retry, Reason: "timeout", Error: "not done after 1s: reject: x"}},
		"nil while draining":  {ended{}, nexus.ErrDraining, work.Result{Action: work.Ack}},
		"error when drained":  {ended{err: boom}, nexus.ErrDraining, work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "boom"}},
		"reject when drained": {ended{err: nexus.Reject("x")}, nexus.ErrDraining, work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "reject: x"}},
		"panic when drained": {ended{err: boom, stack: []byte("s")}, nexus.ErrDraining,
			work.Result{Action: work.Release, Reason: "nexus: node is draining", Error: "boom\n\ns"}},
		"nil when lost":   {ended{}, nexus.ErrLeaseLost, work.Result{Action: work.Ack}}, // the fence refuses it, or it was ours after all
		"error when lost": {ended{err: boom}, nexus.ErrLeaseLost, work.Result{Action: work.Release, Reason: "nexus: lease lost", Error: "boom"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, judge(c.end, c.cause, time.Second)); diff != "" {
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
	text := failure(ended{err: errors.New(strings.Repeat("x", 1<<20)), stack: []byte("handler.go:42")})
	if len(text) > work.MaxText || !strings.Contains(text, "handler.go:42") {
		t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-20:])
	}
}
