package invoke

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// Stay is how long handlers may go on after their context ended before they are given up.
const Stay = 5 * time.Second

// ErrIgnored is how a call ends that is given up.
var ErrIgnored = errors.New("the handler ignored the end of its context")

// Call is a call of handlers, from before they begin until they are back or given up. Whoever ends it settles what came out, and there is
// one: Back and GiveUp report to whom it fell. The zero value is ready. Its methods may be called by several goroutines at once, but for
// Overdue, which is for the one that watches.
type Call struct {
	mu      sync.Mutex // of what moves state or ends the context: Stop must not reach the next call of the same Root
	state   atomic.Int32
	stopped error        // why the engine ended the context; nil: it has not
	ends    atomic.Int64 // when the handlers that run have had their time, in ns since 1970; 0: never
	over    time.Time    // when Overdue first saw that they had

	timeout atomic.Int64 // of the handlers that run

	// Set before it runs.
	ctx    context.Context
	cancel context.CancelCauseFunc // of the root
	free   context.CancelFunc
	gone   chan struct{} // closed when it is given up; nil: nobody waits
}

// The states of a call.
const (
	waiting int32 = iota // nothing was called yet
	running
	back
	givenUp
)

// Root is what the contexts of the calls of one goroutine, one after the other, come from. A context that ends with a cause costs as much as
// all else that Begin does, and few ever do: so one serves until it was ended.
type Root struct {
	Parent context.Context

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// grow makes the context anew if it is over.
func (r *Root) grow() {
	if r.ctx == nil || r.ctx.Err() != nil {
		r.ctx, r.cancel = context.WithCancelCause(r.Parent)
	}
}

// Close ends the contexts of all calls.
func (r *Root) Close() {
	if r.cancel != nil {
		r.cancel(nil)
	}
}

// Begin makes the context of handlers, which ends with the root's parent, after timeout if that is positive, and by Stop. ok is false if the
// call was given up already. Release has to follow, before another call of that root begins.
func (c *Call) Begin(root *Root, from time.Time, timeout time.Duration) (ctx context.Context, ok bool) {
	c.timeout.Store(int64(timeout))
	root.grow()
	if timeout > 0 {
		end := from.Add(timeout)
		c.ends.Store(end.UnixNano())
		ctx, c.free = context.WithDeadline(root.ctx, end)
	} else {
		ctx, c.free = context.WithCancel(root.ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.cancel = ctx, root.cancel
	if !c.state.CompareAndSwap(waiting, running) {
		return ctx, false
	}
	if c.stopped != nil {
		c.cancel(c.stopped)
	}
	return ctx, true
}

// Release frees what Begin took. It comes when the handlers are back, or are given up.
func (c *Call) Release() { c.free() }

// Expect says that handlers begin in the same call that have so long from now on, forever if that is not positive.
func (c *Call) Expect(timeout time.Duration) {
	c.timeout.Store(int64(timeout))
	if timeout <= 0 {
		c.ends.Store(0)
	} else {
		c.ends.Store(time.Now().Add(timeout).UnixNano())
	}
}

// Stop ends the context of the handlers for a reason of the engine's. The first reason counts.
func (c *Call) Stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped != nil {
		return
	}
	c.stopped = cause
	if c.state.Load() == running {
		c.cancel(cause)
	}
}

// Overdue reports whether the handlers have gone on for longer than Stay after their time was over, or their context.
func (c *Call) Overdue(now time.Time) bool {
	if c.state.Load() != running {
		return false
	}
	if ends := c.ends.Load(); ends != 0 && now.UnixNano() > ends+int64(Stay) {
		return true
	}
	if c.over.IsZero() && c.ctx.Err() != nil {
		c.over = now
	}
	return !c.over.IsZero() && now.Sub(c.over) > Stay
}

// Back says that the handlers are back. It reports why their context has ended, nil if it has not, and whether the call is theirs to settle.
func (c *Call) Back() (cause error, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.Cause(c.ctx), c.state.CompareAndSwap(running, back)
}

// GiveUp gives the handlers up. If mine is true the call is the caller's to settle, as r.
func (c *Call) GiveUp() (r work.Result, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := End{Err: ErrIgnored}
	switch {
	case c.state.CompareAndSwap(running, givenUp):
		cause := context.Cause(c.ctx)
		if ends := c.ends.Load(); cause == nil && ends != 0 && time.Now().UnixNano() > ends {
			cause = context.DeadlineExceeded
		}
		r = Judge(e, cause, time.Duration(c.timeout.Load()))
	case c.state.CompareAndSwap(waiting, givenUp):
		r = Judge(e, nexus.ErrDraining, 0)
	default:
		return r, false
	}
	if c.gone != nil {
		close(c.gone)
	}
	return r, true
}

// GivenUp reports whether the handlers were given up: no other may begin after the one that runs.
func (c *Call) GivenUp() bool { return c.state.Load() == givenUp }

// Apart makes a call that runs in a goroutine of its own, see Wait.
func Apart() *Call { return &Call{gone: make(chan struct{})} }

// Wait runs f in a goroutine of its own, which f may end or never leave, and waits until it is back or given up. Then late is closed
// when f returns after all; else it is nil.
func (c *Call) Wait(f func() error) (_ End, late <-chan struct{}) {
	var e End
	var mine bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _, mine = c.Back() }() // also where f ends the goroutine
		if !c.GivenUp() {
			e.Catch(f)
		}
	}()
	select {
	case <-done:
		if mine {
			return e, nil
		}
	case <-c.gone:
	}
	return End{Err: ErrIgnored}, done
}
