package workflow

import (
	"context"
	"slices"
	"sync"

	"github.com/nexuspg/nexus/internal/places"
)

// gate lets code of users run as there are places of the node for it, first come, first served.
type gate struct {
	share *places.Share

	mu      sync.Mutex
	running int
	waiting []chan struct{}
}

func newGate(p *places.Places) *gate {
	g := &gate{}
	g.share = p.Join(p.Total(), g.told)
	return g
}

// enter waits for a place; false: ctx ended before there was one.
func (g *gate) enter(ctx context.Context) bool {
	g.mu.Lock()
	mine := make(chan struct{})
	g.waiting = append(g.waiting, mine)
	g.share.Hold(g.running + len(g.waiting))
	g.pass()
	g.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, mine); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.share.Hold(g.running + len(g.waiting))
		return false
	}
	return true
}

// leave gives the place back.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.share.Done(g.running + len(g.waiting))
	g.pass()
}

func (g *gate) told() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass()
}

// pass lets in whom there is a place for. The caller holds the lock.
func (g *gate) pass() {
	for len(g.waiting) > 0 && g.share.Held() > g.running {
		g.running++
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}

// stuck keeps the place of code that ignores the end of its context, until it comes back after all.
func (g *gate) stuck(late <-chan struct{}) {
	g.share.Stick(1)
	go func() {
		<-late
		g.share.Stick(-1)
		g.leave()
	}()
}

// end says that nobody will enter any more.
func (g *gate) end() { g.share.Leave() }
