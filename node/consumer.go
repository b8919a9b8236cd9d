package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/batch"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/ordered"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/places"
)

const defaultConsumer = "default" // of a node's own handlers

// consumer is one that the node has handlers for, as they were registered. The node's mutex guards it.
type consumer struct {
	name     string
	handlers []*Handler
	declared *Consumer // nil: "default"
}

func (c *consumer) add(n *Node, h *Handler) *Handler {
	h.node, h.calls = n, newCalls()
	c.handlers = append(c.handlers, h)
	return h
}

func (c *consumer) remove(h *Handler) {
	c.handlers = slices.DeleteFunc(c.handlers, func(o *Handler) bool { return o == h })
}

// registered are all handlers. The caller holds the mutex.
func (n *Node) registered() (all []*Handler) {
	for _, c := range n.consumers {
		all = append(all, c.handlers...)
	}
	return append(all, n.broadcasts.handlers...)
}

// hosted is a consumer whose events a node handles, with what runs its handlers.
type hosted struct {
	r        *run
	name     string
	queue    string
	attempts int // that its policy allows
	turn     *engine.Turn
	lookout  *lookout

	mu    sync.Mutex
	parts map[int]*part // by the number that the lookout knows
	next  int
}

// host needs to know the queue, so it speaks to the database.
func (r *run) host(ctx context.Context, name string) (*hosted, error) {
	queue, attempts, err := r.member.Consumer(ctx, name)
	if err != nil {
		return nil, err
	}
	h := &hosted{r: r, name: name, queue: queue, attempts: attempts, turn: new(engine.Turn), parts: map[int]*part{}}
	look := func(ctx context.Context) (time.Duration, error) { return r.member.Look(ctx, queue, waitFor) }
	if ordered.Is(queue) {
		look = func(ctx context.Context) (time.Duration, error) { return r.member.LookOrdered(ctx, name, waitFor) }
	}
	h.lookout = newLookout(r.Poll, look,
		func(ctx context.Context, d time.Duration) error { return r.member.Announce(ctx, queue, d) })
	return h, nil
}

// handling is an engine with handlers of one kind.
type handling interface {
	Key() string // of wake-ups
	Start()
	Wake()
	Looked(due bool) // the lookout was answered
	LastFetch() time.Time
	Stuck() (places int, all time.Time)
	Quit(ctx context.Context)
	Finish(ctx context.Context)
	Stop(grace context.Context) []*nexus.Delivery // those whose handlers never returned
	Work(ctx context.Context, limit int) (int, error)
}

// part is a runner of some of the handlers of a consumer.
type part struct {
	handling
	of       *hosted
	number   int
	kind     kind
	handlers *handlers.Handlers
	calls    []*calls
}

type kind int

const (
	plain kind = iota
	leased
	shared
)

// split says what handlers take: a part of its own for each kind, and for each group of batches.
func split(hs *handlers.Handlers) (parts []part) {
	holding, free, groups := hs.Split()
	if holding == nil && free == nil && len(groups) == 0 {
		holding = hs // none, but a node that fetches nothing must still show that it could
	}
	if holding != nil {
		parts = append(parts, part{kind: plain, handlers: holding})
	}
	if free != nil {
		parts = append(parts, part{kind: leased, handlers: free})
	}
	for _, g := range groups {
		parts = append(parts, part{kind: shared, handlers: g})
	}
	return parts
}

// change makes the parts for other handlers, and says which ones are to go. Those whose handlers are the same stay.
func (h *hosted) change(p *planned, made map[*Handler]*handlers.Handler) (came, went []*part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stay := map[int]bool{}
	for _, want := range split(p.handlers) {
		same := false
		for i, have := range h.parts {
			if have.kind == want.kind && have.handlers.Same(want.handlers) {
				stay[i], same = true, true
			}
		}
		if !same {
			came = append(came, &want)
		}
	}
	for i, have := range h.parts {
		if !stay[i] {
			went = append(went, have)
			delete(h.parts, i)
		}
	}
	for _, one := range came {
		one.of, one.number = h, h.next
		h.next++
		for handler, c := range made {
			if one.handlers.Has(c) {
				one.calls = append(one.calls, handler.calls)
			}
		}
		h.parts[one.number] = one
		one.make()
	}
	return came, went
}

// source is where any engine gets the events of a consumer from.
type source interface {
	consume.Source
	batch.Source
}

// make makes what runs the handlers; nothing runs yet.
func (p *part) make() {
	h, r, hs := p.of, p.of.r, p.handlers
	allowed := func(eventType string) int { return hs.MaxAttemptsOf(eventType, h.attempts) }
	var source source = &pgmqueue.Deliveries{
		Pool: r.own, Handlers: r.pool, Session: r.session, Namespace: r.Namespace, Consumer: h.name, Queue: h.queue, Node: r.member.ID,
		MaxAttempts: allowed,
	}
	if ordered.Is(h.queue) {
		source = &ordered.Source{
			Pool: r.own, Handlers: r.pool, Session: r.session, Namespace: r.Namespace, Consumer: h.name, Queue: h.queue, Node: r.member.ID,
			MaxAttempts: allowed, Freed: h.wake,
		}
	}
	at := r.places
	if p.kind == leased {
		at = r.leasedPlaces
	}
	cfg := p.config(at)
	if p.kind == shared {
		p.handling = batch.New(cfg, source, r.Express)
	} else {
		p.handling = consume.NewLoop(cfg, source)
	}
	for _, c := range p.calls {
		c.join(1)
	}
}

func (p *part) config(at *places.Places) engine.Config {
	h, r := p.of, p.of.r
	return engine.Config{
		Handlers: p.handlers, Places: at, NoExpress: ordered.Is(h.queue), Lease: r.Lease, Poll: r.Poll, Values: r.values,
		Turn: h.turn, Absence: &r.absence, Middleware: r.middleware(), Observer: r.observer(h.name, p.handlers.Patterns(), p.handlers.PatternOf),
		Log: r.Logger, Unavailable: r.unavailable,
		Announce: func(ctx context.Context, d time.Duration) error { return h.lookout.announce(ctx, p.number, d) },
	}
}

// Hears implements [runner].
func (p *part) Hears(key string) bool { return key == p.Key() }

// Stop implements [runner].
func (p *part) Stop(grace context.Context) {
	for _, d := range p.handling.Stop(grace) {
		p.of.r.Logger.Error("a handler did not end in time, its event was given back",
			"event_id", d.ID, "event_type", d.Type, "message_id", d.MessageID)
	}
	p.forget()
}

// forget says that the part calls no handlers any more, or never did.
func (p *part) forget() {
	for _, c := range p.calls {
		c.join(-1)
	}
}

// retire lets a part end what it has in hand, however long that takes, but for the end of the node.
func (p *part) retire(end context.Context) {
	p.Finish(end)
	p.Stop(end)
}

// looked tells a part what the lookout saw, unless it has gone since.
func (h *hosted) looked(number int, due bool) {
	h.mu.Lock()
	p := h.parts[number]
	h.mu.Unlock()
	if p != nil {
		p.Looked(due)
	}
}

// wake makes all parts look: a lane that one of them has left may have an event for another one.
func (h *hosted) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.parts {
		p.Wake()
	}
}
