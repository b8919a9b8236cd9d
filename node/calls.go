package node

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// calls knows when a handler is called no more.
type calls struct {
	now  atomic.Int64 // under way; those that ignore the end of their context outlive their runner
	over atomic.Bool  // no other begins
	done chan struct{}

	mu      sync.Mutex
	runners int // that may call it
	removed bool
	closed  bool
}

func newCalls() *calls { return &calls{done: make(chan struct{})} }

// change closes done if f has made the last call the last one.
func (c *calls) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.over.Store(c.removed && c.runners == 0)
	if c.over.Load() && c.now.Load() == 0 && !c.closed {
		c.closed = true
		close(c.done)
	}
}

func (c *calls) remove() { c.change(func() { c.removed = true }) }

// join adds a runner, or takes one away with -1.
func (c *calls) join(n int) { c.change(func() { c.runners += n }) }

func (c *calls) begin() { c.now.Add(1) }

func (c *calls) end() {
	if c.now.Add(-1) == 0 && c.over.Load() {
		c.change(func() {})
	}
}

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
