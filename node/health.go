package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
)

// How long after the last answer to a claim a node still counts as ready, and as healthy; five times Poll if that is longer.
const (
	readyFor   = 10 * time.Second
	healthyFor = 30 * time.Second
)

// running is what can be asked about a node that runs.
type running struct {
	runners  []runner
	poll     time.Duration
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

func (n *Node) setRunning(r *running) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state = r
}

func (n *Node) setDraining() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.draining = true
}

// ErrNotRunning is what Health and Ready say before Run and after it.
var ErrNotRunning = errors.New("node: not running")

// Health is nil while the node fetches: it judges the age of the last answer to a claim, since a node can send heartbeats and
// yet be deaf. It turns into an error when none was answered for 30 s, or five times Config.Poll if that is longer. A node whose
// workers are all busy is well, and so is one that drains.
func (n *Node) Health() error {
	r, ok := n.running()
	if !ok {
		return ErrNotRunning
	}
	if r.draining {
		return nil
	}
	return r.fetches(healthyFor)
}

// Ready is nil while the node takes events: it is registered, does not drain, and a claim was answered in the last 10 s, or five
// times Config.Poll if that is longer. Health forgives more: who asks whether to restart a process asks that.
func (n *Node) Ready() error {
	r, ok := n.running()
	if !ok {
		return ErrNotRunning
	}
	if r.draining {
		return nexus.ErrDraining
	}
	return r.fetches(readyFor)
}

func (r running) fetches(within time.Duration) error {
	if age := time.Since(r.lastFetch()); age > max(5*r.poll, within) {
		return &nexus.Error{Op: "fetch", Code: "08006", Message: fmt.Sprintf("no claim was answered for %s", age.Round(time.Second)),
			Hint: "look at the connection to the database"}
	}
	return nil
}

// lastFetch is that of the runner whose last one is the longest ago.
func (r running) lastFetch() time.Time {
	last := time.Now()
	for _, one := range r.runners {
		if t := one.LastFetch(); t.Before(last) {
			last = t
		}
	}
	return last
}
