package node

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/runstart"
)

// Node is one running member of a namespace.
type Node struct {
	pool *pgxpool.Pool
	cfg  Config

	mu         sync.Mutex
	consumers  []*consumer // the first one is "default"
	broadcasts *consumer
	services   []Service // the first one starts runs that triggers ask for
	declared   int       // of the services, by Work
	ran        bool
	state      *running        // nil before Run has registered and after it
	drain      chan struct{}   // closed when somebody asked to drain
	grace      context.Context // of whoever asked first
	ended      chan struct{}   // closed when Run has returned
	begun      chan struct{}   // closed when the node has registered, or has ended without
	open       func()          // closes it, once
	run        *run            // from then on
}

// New touches no database and returns no error: what is wrong with cfg or with a registration comes out of Run and Work. pool
// serves the transactions of handlers; the node opens up to six connections of its own, with the pool's settings.
func New(pool *pgxpool.Pool, cfg Config) *Node {
	n := &Node{
		pool: pool, cfg: cfg, consumers: []*consumer{{name: defaultConsumer}}, broadcasts: &consumer{name: broadcastConsumer},
		services: []Service{runstart.Service{}},
		drain:    make(chan struct{}), ended: make(chan struct{}), begun: make(chan struct{}),
	}
	n.open = sync.OnceFunc(func() { close(n.begun) })
	return n
}

// Run works until ctx ends, then drains: it claims no more, waits Grace for handlers, cancels them, gives back what is left and
// returns nil. The contexts of handlers keep ctx's values but not its end. A database that is away, or cannot do it just now, is
// waited for. Errors are those of the configuration (ErrInvalid), of rights and of the schema (ErrForbidden, ErrNotFound,
// ErrSchema), and ErrConflict when another node has the ID that was given. A node runs once.
func (n *Node) Run(ctx context.Context) error {
	p, err := n.begin()
	if err != nil {
		return err
	}
	defer close(n.ended)
	defer n.open()

	r, err := newRun(ctx, n.pool, p)
	if err != nil {
		return err
	}
	defer r.close()
	return r.run(ctx, n)
}

// begin is the plan of a node that runs now, and has not before.
func (n *Node) begin() (*plan, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, err := n.plan()
	if err != nil {
		return nil, err
	}
	if n.ran {
		return nil, invalid("Run", "the node has run already", "make a new one with node.New")
	}
	n.ran = true
	return p, nil
}

// Drain does what the end of Run's context does, with the end of ctx in place of Grace, and returns when Run has or ctx ends,
// then with ctx's error. It may be called often, and before Run, which then returns at once.
func (n *Node) Drain(ctx context.Context) error {
	n.mu.Lock()
	if n.grace == nil {
		n.grace = ctx
		close(n.drain)
	}
	ran := n.ran
	n.mu.Unlock()
	if !ran {
		return nil
	}
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Work does inline what Run does until nothing is due, as far as limit goes: it declares what was given to Add, if this is the first time,
// fires what is due on a schedule, brings back what was delayed, or parked for want of a handler, and handles up to limit due
// events, one after another in the caller's goroutine, those in transactions first; it returns how many. So Workers and Poll mean nothing
// to it, and all else that Config and handlers say holds. It needs no Run, does not register and leaves nothing behind, so it suits tests, scripts and jobs of another
// scheduler. Errors of handlers are settled, not returned.
func (n *Node) Work(ctx context.Context, limit int) (int, error) {
	n.mu.Lock()
	p, err := n.plan()
	n.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if limit < 0 {
		return 0, invalid("limit", fmt.Sprintf("limit is %d", limit), "give 0 or more")
	}
	p.Workers, p.LeasedWorkers = 1, 1
	r, err := newRun(ctx, n.pool, p)
	if err != nil {
		return 0, err
	}
	defer r.close()
	if err := r.declare(ctx, n); err != nil {
		return 0, err
	}
	if _, err := r.member.Fire(ctx); err != nil {
		return 0, err
	}
	if _, _, err := r.member.Promote(ctx); err != nil {
		return 0, err
	}
	if err := r.createConsumers(ctx); err != nil {
		return 0, err
	}
	var patterns []string
	for _, c := range r.consumers {
		patterns = append(patterns, c.handlers.Patterns()...)
	}
	if _, err := r.member.Unpark(ctx, patterns...); err != nil {
		return 0, err
	}
	parts, err := r.prepare(ctx)
	if err != nil {
		return 0, err
	}
	handled := 0
	for _, one := range parts {
		n, workErr := one.Work(ctx, limit-handled)
		one.forget()
		handled += n
		err = errors.Join(err, workErr)
	}
	if err == nil {
		var served int
		served, err = r.workServices(ctx, n, limit-handled)
		handled += served
	}
	return handled, err
}
