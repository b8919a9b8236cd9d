package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/places"
)

// How long after the last answer to a claim a node still counts as ready, and as healthy; five times Poll if that is longer.
const (
	readyFor   = 10 * time.Second
	healthyFor = 30 * time.Second

	// stuckFor is how long a node counts as healthy whose workers are all stuck.
	stuckFor = time.Minute
)

// running is what can be asked about a node that runs.
type running struct {
	runners  *runners
	places   []*places.Places
	poll     time.Duration
	absence  *feed.Absence
	draining bool
}

func (n *Node) running() (r running, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == nil {
		return r, false
	}
	return *n.state, true
}

func (n *Node) setRunning(state *running, r *run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state, n.run = state, r
	n.open()
}

func (n *Node) setDraining() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.draining = true
}

// ErrNotRunning is what Health and Ready say before Run and after it.
var ErrNotRunning = errors.New("node: not running")

// ErrStuck is what Ready says, and Health a minute later, when the handlers of all workers ignore the end of their context.
var ErrStuck = errors.New("node: all workers are stuck")

// Health is nil while the node fetches: it judges the age of the last answer to a claim, since a node can send heartbeats and
// yet be deaf. It turns into an error when none was answered for 30 s, or five times Config.Poll if that is longer. A node whose
// workers are all busy is well, and so is one that drains. One whose workers are all stuck, since their handlers have not come back for
// longer than Timeout and five seconds, is not, a minute after the last of them: only a restart brings it back. See [ErrStuck].
func (n *Node) Health() error {
	r, ok := n.running()
	if !ok {
		return ErrNotRunning
	}
	if r.draining {
		return nil
	}
	if err := r.works(stuckFor); err != nil {
		return err
	}
	return r.fetches(healthyFor)
}

// Ready is nil while the node takes events: it is registered, does not drain, some worker is not stuck, and a claim was answered in the
// last 10 s, or five times Config.Poll if that is longer. While tables of its queue are missing it says so, with [nexus.CodeQueueLost]; the
// node goes on by itself once they are there again. Health forgives more: who asks whether to restart a process asks that.
func (n *Node) Ready() error {
	r, ok := n.running()
	if !ok {
		return ErrNotRunning
	}
	if r.draining {
		return nexus.ErrDraining
	}
	if err := r.works(0); err != nil {
		return err
	}
	if err := r.absence.Err(); err != nil {
		return err
	}
	return r.fetches(readyFor)
}

// works is an error when all places for handlers, or all that the handlers of one runner may have, have been stuck for longer than that.
func (r running) works(within time.Duration) error {
	check := func(n int, all time.Time) error {
		if all.IsZero() || time.Since(all) < within {
			return nil
		}
		return fmt.Errorf("%w: the handlers of %d have ignored the end of their contexts, the last of them for %s; the log names their events, a restart frees them",
			ErrStuck, n, time.Since(all).Round(time.Second))
	}
	for _, p := range r.places {
		if err := check(p.Stuck()); err != nil {
			return err
		}
	}
	for _, one := range r.runners.each() {
		if err := check(one.Stuck()); err != nil {
			return err
		}
	}
	return nil
}

func (r running) fetches(within time.Duration) error {
	if age := time.Since(r.runners.lastFetch()); age > max(5*r.poll, within) {
		return &nexus.Error{Op: "fetch", Code: "08006", Message: fmt.Sprintf("no claim was answered for %s", age.Round(time.Second)),
			Hint: "look at the connection to the database"}
	}
	return nil
}
