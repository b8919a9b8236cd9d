package consume

import (
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/work"
)

// task is an item in hand. The loop's mutex guards its fields but for the first four, which never change.
type task struct {
	item   work.Item
	d      *nexus.Delivery
	route  *handlers.Route
	limits []*limit

	call invoke.Call // has a lock of its own

	turn    bool // it has the node's turn
	claimed time.Time
	started time.Time // a worker has it since
	lease   lease.Lease
	tx      engine.Tx // nil: none is open

	// Of the worker alone.
	result work.Result
	owed   bool                                 // result is still to be settled
	end    func([]work.Observed, time.Duration) // of the observation, nil if nobody observes
	took   time.Duration                        // of the call of the handlers
}

// Lease implements [lease.Held]: the worker settles under it as well.
func (t *task) Lease() *lease.Lease {
	if t.call.GivenUp() {
		return nil
	}
	return &t.lease
}

// Lost implements [lease.Held].
func (t *task) Lost(time.Time) { t.call.Stop(nexus.ErrLeaseLost) }
