package node

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// calls knows when a handler is called no more.
type calls struct {
	mu      sync.Mutex
	runners int // that may call it
	now     int // under way; those that ignore the end of their context outlive their runner
	removed bool
	done    chan struct{}
	closed  bool
}

func newCalls() *calls { return &calls{done: make(chan struct{})} }

func (c *calls) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	if c.removed && c.runners == 0 && c.now == 0 && !c.closed {
		c.closed = true
		close(c.done)
	}
}

func (c *calls) remove() { c.change(func() { c.removed = true }) }

// join adds a runner, or takes one away with -1.
func (c *calls) join(n int) { c.change(func() { c.runners += n }) }

func (c *calls) begin() { c.change(func() { c.now++ }) }

func (c *calls) end() { c.change(func() { c.now-- }) }

// inTx is fn, counted. So are the others; nil stays nil.
func (c *calls) inTx(fn func(context.Context, pgx.Tx, *nexus.Delivery) error) func(context.Context, pgx.Tx, *nexus.Delivery) error {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		c.begin()
		defer c.end()
		return fn(ctx, tx, d)
	}
}

func (c *calls) inBatch(fn func(context.Context, pgx.Tx, []*nexus.Delivery) error) func(context.Context, pgx.Tx, []*nexus.Delivery) error {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		c.begin()
		defer c.end()
		return fn(ctx, tx, batch)
	}
}

func (c *calls) leased(fn func(context.Context, *nexus.Delivery) error) func(context.Context, *nexus.Delivery) error {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, d *nexus.Delivery) error {
		c.begin()
		defer c.end()
		return fn(ctx, d)
	}
}
