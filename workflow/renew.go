package workflow

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/svc"
)

// headroom is how long before the end of a lease whoever could not renew it stops.
func headroom(lease time.Duration) time.Duration { return min(2*time.Second, lease/4) }

// renew keeps the leases of what is in hand, and stops what is lost or out of time.
func (r *runner) renew(ctx context.Context) {
	ticks := time.NewTicker(min(r.lease/10, 500*time.Millisecond))
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
			r.extend(ctx, now)
		}
	}
}

// extend renews what has used a third of its lease. All of it goes in one statement.
func (r *runner) extend(ctx context.Context, now time.Time) {
	var due []*hand
	var runs, tokens []uuid.UUID
	var paths []string
	var epochs []int32
	r.mu.Lock()
	for h := range r.hands {
		if h.until.Sub(now) < r.lease*2/3 && !h.over {
			due, runs, tokens, paths, epochs = append(due, h), append(runs, h.run), append(tokens, h.token), append(paths, h.path), append(epochs, h.epoch)
		}
	}
	r.mu.Unlock()
	if due == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(exchange, max(r.lease/3, time.Second)))
	defer cancel()
	var gone, busy []int
	err := r.h.Own.QueryRow(ctx, "select lost, busy from core_node.extend_runs($1, $2, $3, $4, $5)", runs, paths, epochs, tokens, r.lease).Scan(&gone, &busy)
	if err != nil && db.Unavailable(err) {
		go r.h.Unavailable(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		for i, h := range due {
			if h.token == tokens[i] && h.path == paths[i] {
				h.until = now.Add(r.lease)
			}
		}
		for _, n := range busy { // nobody can claim what somebody has locked; so it is held, and renewed as soon as can be
			if h := due[n-1]; r.hands[h] && h.path == paths[n-1] {
				h.until = now.Add(r.lease / 2)
			}
		}
		for _, n := range gone {
			if h := due[n-1]; r.hands[h] && h.path == paths[n-1] {
				h.lose()
			}
		}
	}
	for h := range r.hands {
		if time.Until(h.until) < headroom(r.lease) {
			h.lose()
		}
	}
}

// lose stops a hand whose cursor is, or soon will be, somebody else's. The caller holds the lock.
func (h *hand) lose() {
	if h.over {
		return
	}
	h.over = true
	close(h.gone)
	if h.call != nil {
		h.call.Stop(nexus.ErrLeaseLost)
	}
}

// giveUp gives up code that ignores the end of its context: that which is due.
func (r *runner) giveUp(due func(*invoke.Call) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for h := range r.hands {
		if h.call != nil && due(h.call) {
			h.call.GiveUp()
		}
	}
}
