package outbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/svc"
)

// hold is a lane in hand. The lock of the runner guards it.
type hold struct {
	token uuid.UUID
	until time.Time    // when the lease ends, by this process's clock and never later than in the database
	call  *invoke.Call // of the handler that runs; nil: none does
}

// headroom is how long before the end of a lease a handler's context ends whose lease could not be renewed.
func headroom(lease time.Duration) time.Duration { return min(2*time.Second, lease/4) }

// renew keeps the leases of what is in hand, and ends the handlers of what is lost or out of time.
func (r *runner) renew(ctx context.Context) {
	lease := r.p.lease(r.h)
	ticks := time.NewTicker(min(lease/10, 500*time.Millisecond))
	defer ticks.Stop()
	ended := r.h.Handling.Done()
	var stay <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			ended, stay = nil, time.After(svc.Stay)
		case <-stay:
			r.giveUp(func(*invoke.Call) bool { return true })
		case now := <-ticks.C:
			r.giveUp(func(c *invoke.Call) bool { return c.Overdue(now) })
			r.extend(ctx, now, lease)
		}
	}
}

// extend renews what has used a third of its lease. All of it goes in one statement.
func (r *runner) extend(ctx context.Context, now time.Time, lease time.Duration) {
	var ids []int32
	var tokens []uuid.UUID
	r.mu.Lock()
	for id, k := range r.held {
		if k.until.Sub(now) < lease*2/3 {
			ids, tokens = append(ids, id), append(tokens, k.token)
		}
	}
	r.mu.Unlock()
	if ids == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(exchange, max(lease/3, time.Second)))
	defer cancel()
	var gone []int32
	err := r.h.Own.QueryRow(ctx, "select core_node.extend_lanes($1, $2, $3)", ids, tokens, lease).Scan(&gone)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if db.Unavailable(err) {
			go r.h.Unavailable(err)
		}
	} else {
		for i, id := range ids {
			if k := r.held[id]; k != nil && k.token == tokens[i] {
				k.until = now.Add(lease)
			}
		}
		for _, id := range gone {
			r.loseLocked(id)
		}
	}
	for id, k := range r.held {
		if time.Until(k.until) < headroom(lease) {
			r.loseLocked(id)
		}
	}
}

// loseLocked ends the handler of a lane that is, or soon will be, somebody else's.
func (r *runner) loseLocked(id int32) {
	if k := r.held[id]; k != nil && k.call != nil {
		k.call.Stop(nexus.ErrLeaseLost)
	}
}

// giveUp gives up handlers that ignore the end of their context: those which are due.
func (r *runner) giveUp(due func(*invoke.Call) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.held {
		if k.call != nil && due(k.call) {
			k.call.GiveUp()
		}
	}
}
