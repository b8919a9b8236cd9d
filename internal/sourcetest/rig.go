package sourcetest

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/places"
)

// Lease is that of the engine in a Rig.
const Lease = 30 * time.Second

// Rig is what an engine is tried on: a source in memory, and a clock that costs nothing. What takes seconds beside a database takes no time there.
type Rig struct {
	T      *testing.T
	Source *Memory
	Config engine.Config
	Log    strings.Builder
	Away   atomic.Int32 // how often a failure looked like a server that is away

	engine Engine // nil: none runs
}

// Engine is what every engine is to a Rig.
type Engine interface {
	Start()
	Stop(grace context.Context) []*nexus.Delivery
}

// InBubble runs a test of these handlers with so many workers in a bubble of its own, and stops the engine at the end.
func InBubble(t *testing.T, workers int, list []*handlers.Handler, test func(r *Rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		hs, err := handlers.New(list, nexus.RetryPolicy{})
		if err != nil {
			t.Fatal(err)
		}
		r := &Rig{T: t, Source: &Memory{}}
		r.Config = engine.Config{
			Handlers: hs, Places: places.New(workers), Lease: Lease, Poll: time.Second, Values: context.WithoutCancel(t.Context()),
			Log:         slog.New(slog.NewTextHandler(&r.Log, nil)),
			Announce:    func(context.Context, time.Duration) error { return nil },
			Unavailable: func(error) { r.Away.Add(1) },
		}
		defer func() { r.End(0) }()
		test(r)
	})
}

// Run starts an engine.
func (r *Rig) Run(e Engine) {
	r.engine = e
	e.Start()
}

// End stops the engine, unless that was done, and gives handlers so long.
func (r *Rig) End(grace time.Duration) (stayed []*nexus.Delivery) {
	if r.engine == nil {
		return nil
	}
	e := r.engine
	r.engine = nil
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return e.Stop(ctx)
}

// After lets time pass, and everything that is to happen meanwhile.
func After(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
