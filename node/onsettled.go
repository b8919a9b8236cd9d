package node

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// Settled is what became of a delivery: the database has accepted it, and it is committed.
type Settled struct {
	Delivery *nexus.Delivery // a copy, at the attempt that was settled; it cannot be acknowledged
	Outcome  Outcome
	Reason   string // short and one of few, "" where it is Done; as in core.delivery_errors
	Error    string // what went wrong, for people
}

// Outcome is how a delivery was settled.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"
	Retried  Outcome = "retried"  // an attempt failed, another one follows
	Halted   Outcome = "halted"   // its attempts are used up, and the lane of the ordered consumer stands at it
	Released Outcome = "released" // given back, no attempt used
	Rejected Outcome = "rejected" // a dead letter, since a handler wanted it so
	Dead     Outcome = "dead"     // a dead letter, since the attempts are used up
)

// mostUntold outcomes wait for the hook at most.
const mostUntold = 10_000

// teller calls the hook, one outcome after the other, beside everything else.
type teller struct {
	hook func(context.Context, Settled)
	ctx  context.Context
	end  context.CancelFunc
	log  *slog.Logger

	mu     sync.Mutex
	more   sync.Cond
	untold []Settled
	closed bool
	said   time.Time
	lost   int // since something was last said about it
	over   chan struct{}
}

func newTeller(ctx context.Context, hook func(context.Context, Settled), log *slog.Logger) *teller {
	t := &teller{hook: hook, log: log, over: make(chan struct{})}
	t.ctx, t.end = context.WithCancel(context.WithoutCancel(ctx))
	t.more.L = &t.mu
	go t.tell()
	return t
}

// tell goes on in a new goroutine where the hook ends this one.
func (t *teller) tell() {
	done := false
	defer func() {
		if !done {
			go t.tell()
		}
	}()
	for {
		t.mu.Lock()
		for len(t.untold) == 0 && !t.closed {
			t.more.Wait()
		}
		if len(t.untold) == 0 {
			t.mu.Unlock()
			done = true
			close(t.over)
			return
		}
		s := t.untold[0]
		t.untold[0] = Settled{}
		t.untold = t.untold[1:]
		t.mu.Unlock()
		t.call(s)
	}
}

func (t *teller) call(s Settled) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("OnSettled panicked", "event_id", s.Delivery.ID, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	t.hook(t.ctx, s)
}

// close waits a moment for what is untold.
func (t *teller) close() {
	t.mu.Lock()
	t.closed = true
	t.more.Broadcast()
	t.mu.Unlock()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-t.over:
	case <-timer.C:
		t.mu.Lock()
		t.lost += len(t.untold)
		t.untold = nil
		lost := t.lost
		t.mu.Unlock()
		t.log.Warn("OnSettled does not end, the rest is not told", "untold", lost)
	}
	t.end()
}

// Claimed implements [work.Observer].
func (t *teller) Claimed([]work.Item, int) {}

// HeldBack implements [work.Observer].
func (t *teller) HeldBack(work.Hold) {}

// Handling implements [work.Observer].
func (t *teller) Handling(ctx context.Context, _ []*nexus.Delivery) (context.Context, func([]work.Observed, time.Duration)) {
	return ctx, func([]work.Observed, time.Duration) {}
}

// LeaseLost implements [work.Observer].
func (t *teller) LeaseLost(*nexus.Delivery) {}

// Settled implements [work.Observer].
func (t *teller) Settled(results []work.Result, outcomes []work.Outcome) {
	kinds := make(map[work.Item]work.OutcomeKind, len(outcomes))
	for _, o := range outcomes {
		kinds[o.Item] = o.Kind
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range results {
		r := &results[i]
		kind, other := kinds[r.Item]
		s := Settled{Reason: r.Reason, Error: r.Error}
		switch {
		case !other && r.Action == work.Ack, kind == work.Gone && r.Item.Acked():
			s = Settled{Outcome: Done}
		case kind == work.Retried:
			s.Outcome = Retried
		case kind == work.Halted:
			s.Outcome = Halted
		case kind == work.Released:
			s.Outcome = Released
		case kind == work.Buried && r.Action == work.Reject:
			s.Outcome = Rejected
		case kind == work.Buried:
			s.Outcome = Dead
		default:
			continue // somebody else's now
		}
		if t.closed || len(t.untold) >= mostUntold {
			t.drop()
			continue
		}
		s.Delivery = r.Item.Handed(false)
		t.untold = append(t.untold, s)
	}
	t.more.Signal()
}

// drop counts an outcome that is not told. The caller holds the mutex.
func (t *teller) drop() {
	if t.lost++; time.Since(t.said) > sayEvery {
		t.log.Warn("OnSettled is too slow, outcomes are not told", "untold", t.lost)
		t.said, t.lost = time.Now(), 0
	}
}
