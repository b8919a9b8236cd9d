package node

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/broadcast"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
)

// Broadcasts takes the handlers of broadcasts, see [Node.Broadcasts].
type Broadcasts struct{ node *Node }

// Broadcasts takes handlers of events that are emitted with the option broadcast: On, OnLeased, and [OnT] and [OnLeasedT]. Each node of the namespace
// that has such handlers gets each of these events once, beside the consumers of the event; its other handlers (On and its kin of the node itself) are those of a consumer.
//
// What a handler writes in its transaction commits with the node's place among the broadcasts, exactly once. A node that comes back under its [Config.ID] goes on where it was; under
// another id it begins at its registration, so give it one. Events come one after another, and Workers, OnBatch and Express are refused. Attempts, pauses and verdicts are
// those of other handlers; what is given up is a dead letter of this node, whose consumer is "broadcast:" and the node's id, as it is in [nexus.Delivery.Consumer].
//
// The handlers have to be registered before Run, and [Node.Apply] changes none of them. [Node.Work] leaves broadcasts alone, since it is no node that others know.
func (n *Node) Broadcasts() *Broadcasts { return &Broadcasts{n} }

// On is [Node.On] for broadcasts.
func (b *Broadcasts) On(pattern string, fn func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error) *Handler {
	return b.register(&Handler{pattern: pattern, onTx: fn})
}

// OnLeased is [Node.OnLeased] for broadcasts: without a transaction, and so at least once. A process that dies while fn runs has used an attempt.
func (b *Broadcasts) OnLeased(pattern string, fn func(ctx context.Context, d *nexus.Delivery) error) *Handler {
	return b.register(&Handler{pattern: pattern, onLeased: fn})
}

func (b *Broadcasts) register(h *Handler) *Handler {
	b.node.mu.Lock()
	defer b.node.mu.Unlock()
	return b.node.broadcasts.add(b.node, h)
}

// broadcastConsumer stands for the broadcasts where others have a consumer's name. No consumer has this one.
const broadcastConsumer = "broadcast:"

// takeBroadcasts takes the handlers of broadcasts.
func (s *plan) takeBroadcasts(of *consumer) error {
	if len(of.handlers) == 0 {
		return nil
	}
	var list []*handlers.Handler
	for _, h := range of.handlers {
		field := "Handler(" + h.Name + ")"
		if h.Name == "" {
			field = "Handler(" + h.pattern + ")"
		}
		switch {
		case h.onBatch != nil:
			return invalid(field, field+" is OnBatch, but broadcasts are handled one at a time", "make it On or OnLeased")
		case h.Express:
			return invalid(field+".Express", field+".Express is set, but broadcasts are handled one at a time", "leave Express out")
		case h.Workers != 0:
			return invalid(field+".Workers", field+".Workers is set, but broadcasts are handled one at a time", "leave Workers out")
		}
		one, err := s.handler(h)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	all, err := handlers.New(list, s.Retry)
	if err != nil {
		return invalid("Handler", err.Error(), "make them all On or all OnLeased, or give the events a type each")
	}
	s.broadcasts, s.broadcastHandlers = all, slices.Clone(of.handlers)
	return nil
}

// sameBroadcasts refuses other handlers than those that the node was started with.
func (s *plan) sameBroadcasts(of *consumer) error {
	if slices.Equal(s.broadcastHandlers, of.handlers) {
		return nil
	}
	return invalid("Broadcasts", "handlers of broadcasts were changed while the node runs", "register them before Run, and leave them until it has ended")
}

// receiver runs the handlers of broadcasts.
type receiver struct {
	*consume.Loop
	r     *run
	calls []*calls
}

// receive makes what runs the handlers of broadcasts, nil if there are none.
func (r *run) receive() *receiver {
	hs := r.broadcasts
	if hs == nil {
		return nil
	}
	at := r.leasedPlaces
	if hs.Transactional() {
		at = r.places
	}
	b := &receiver{r: r}
	b.Loop = consume.NewLoop(engine.Config{
		Handlers: hs, Places: at, One: true, Lease: r.Lease, Poll: r.Poll, Values: r.values, Absence: &r.absence, Middleware: r.middleware(),
		Observer: r.observer(broadcastConsumer, hs.Patterns(), hs.PatternOf), Log: r.Logger, Unavailable: r.unavailable, Announce: r.callForBroadcasts,
	}, &broadcast.Source{
		Pool: r.own, Handlers: r.pool, Session: r.session, Namespace: r.Namespace, Node: r.member.ID, Incarnation: r.member.Incarnation,
		Holder: uuid.New(), Log: r.Logger,
	})
	for _, h := range r.broadcastHandlers {
		b.calls = append(b.calls, h.calls)
		h.calls.join(1)
	}
	return b
}

// callForBroadcasts asks emitters to call. It never asks them not to, since the other nodes wait by the same key, and each wants to hear.
func (r *run) callForBroadcasts(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return r.member.Announce(ctx, broadcast.Key(r.Namespace), d)
}

// Hears implements [runner].
func (b *receiver) Hears(key string) bool { return key == b.Key() }

// Stop implements [runner].
func (b *receiver) Stop(grace context.Context) {
	for _, d := range b.Loop.Stop(grace) {
		b.r.Logger.Error("a handler did not end in time, its broadcast was given back", "event_id", d.ID, "event_type", d.Type)
	}
	for _, c := range b.calls {
		c.join(-1)
	}
}
