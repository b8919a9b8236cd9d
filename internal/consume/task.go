package consume

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/work"
)

// state is where a task stands. It moves forward only, under the loop's mutex; whoever moves it out of running settles it.
type state uint8

const (
	waiting   state = iota // claimed, no worker yet
	running                // its handlers run
	returned               // they returned; the worker settles
	abandoned              // they did not come back; the monitor has settled and the worker is stuck
)

// task is an item in hand. The loop's mutex guards its fields but the first four, which never change.
type task struct {
	item   work.Item
	d      *nexus.Delivery
	route  *handlers.Route
	limits []*limit

	state   state
	turn    bool // it has the node's turn
	claimed time.Time
	lease   lease.Lease

	started time.Time
	cancel  context.CancelCauseFunc
	stopped time.Time // when the handlers' context was cancelled by the loop, zero if it was not
	tx      engine.Tx // nil: none is open

	// Of the worker alone.
	end  func([]work.Observed, time.Duration) // of the observation, nil if nobody observes
	took time.Duration                        // of the call of the handlers
}

// Lease implements [lease.Held]: the worker settles under it as well.
func (t *task) Lease() *lease.Lease {
	if t.state != running && t.state != returned {
		return nil
	}
	return &t.lease
}

// Lost implements [lease.Held].
func (t *task) Lost(now time.Time) {
	if t.state == running {
		t.stop(now, nexus.ErrLeaseLost)
	}
}

// overdue reports since when the handlers' context has been over, zero if it is not.
func (t *task) overdue(now time.Time) time.Time {
	if !t.stopped.IsZero() {
		return t.stopped
	}
	if t.route.Timeout > 0 {
		if end := t.started.Add(t.route.Timeout); now.After(end) {
			return end
		}
	}
	return time.Time{}
}
