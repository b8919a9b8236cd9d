package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
)

// Handler is a registration. Its fields may be set until Run, or [Node.Apply] where the node runs already, which refuse what can have no effect:
// [nexus.ErrInvalid] names the field. That includes a field that was changed later: remove the handler then, and register another one.
//
// Handlers that share an event share its policy and its context: of each field of Retry the first one that sets it decides, and the
// longest Timeout.
type Handler struct {
	Name    string            // in logs and errors; "": the pattern
	Retry   nexus.RetryPolicy // zero fields: Config.Retry, then the consumer's and the namespace's
	Timeout time.Duration     // of one attempt; 0: Config.Timeout; negative: none
	Workers int               // at once on this node, of batches the batches; 0: as many as the node has of its kind, see Config

	Batch   int           // OnBatch, On with Express: most events a transaction, up to 10,000; 0: 100 a call, up to 1,000 a transaction while they are quick
	Linger  time.Duration // OnBatch, On with Express: how long to wait for a full batch; 0: not at all; up to 1 min
	Leased  bool          // OnBatch: claim by lease instead of express; of OnLeased it is true anyway
	Express bool          // On: several events share one transaction; of OnBatch without Leased it is true anyway

	pattern  string
	onTx     func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error
	onBatch  func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error
	onLeased func(ctx context.Context, d *nexus.Delivery) error
	answer   func(ctx context.Context, d *nexus.Delivery) (any, error) // of a request, in place of onLeased

	node  *Node
	calls *calls
}

// settings are what a user may set.
type settings struct {
	name    string
	retry   nexus.RetryPolicy
	timeout time.Duration
	workers int
	batch   int
	linger  time.Duration
	leased  bool
	express bool
}

func (h *Handler) settings() settings {
	return settings{h.Name, h.Retry, h.Timeout, h.Workers, h.Batch, h.Linger, h.Leased, h.Express}
}

// unchanged refuses a setting that is not what it was when the handler was taken, since nothing would come of it.
func (h *Handler) unchanged(was settings) error {
	is := h.settings()
	if is == was {
		return nil
	}
	field := fmt.Sprintf("Handler(%s)", was.name)
	if was.name == "" {
		field = fmt.Sprintf("Handler(%s)", h.pattern)
	}
	for _, f := range []struct {
		name    string
		changed bool
	}{
		{"Name", is.name != was.name}, {"Retry", is.retry != was.retry}, {"Timeout", is.timeout != was.timeout}, {"Workers", is.workers != was.workers},
		{"Batch", is.batch != was.batch}, {"Linger", is.linger != was.linger}, {"Leased", is.leased != was.leased}, {"Express", is.express != was.express},
	} {
		if f.changed {
			field += "." + f.name
			break
		}
	}
	return invalid(field, field+" was changed while the handler runs", "remove the handler, and register one with these settings")
}

// On handles an event type ("prefix.*", "prefix:*" and "*" are patterns) in a transaction that also holds the acknowledgement:
// what fn writes there and the end of the delivery commit together, exactly once. tx is fn's until it returns, and closed then
// ([pgx.ErrTxClosed]); d is a copy. tx may be nested with Begin; Commit and Rollback are the node's, and refused. Ending it by a statement (commit, rollback) may commit effects without the
// acknowledgement, so the delivery becomes a dead letter at once, with the reason "transaction ended". All handlers that match
// an event run in the order of their registration, in one transaction, and must be of one mode.
//
// The transaction writes, and has the isolation that the login has by default; with Express it is read committed, since it also claims.
//
// An error undoes all of them and the event is tried again by policy; [nexus.Retry], [nexus.Reject] and [nexus.Release] say
// otherwise. A panic, runtime.Goexit and a nil pointer in an error value are failures. ctx carries the values of Run's context
// and the delivery; it ends at Timeout (30 min), when the lease is lost (cause [nexus.ErrLeaseLost]) and when the node has
// drained for Grace (cause [nexus.ErrDraining]).
//
// With [Handler.Express] set, many events share one transaction, which locks them in place of a lease: several times as fast for
// short handlers. fn still gets one event at a time and sees to nothing else; when it fails, that event alone is undone. All that
// is said at [Node.OnBatch] about express holds.
func (n *Node) On(pattern string, fn func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error) *Handler {
	return n.register(&Handler{pattern: pattern, onTx: fn})
}

// OnBatch handles many events in one transaction, which also holds their acknowledgements. By default it is express: the
// transaction locks the events in place of a lease, so that each costs one write, and a crash gives them back at once. It has to
// be short: after Config.Express (5 s) it is rolled back, without using an attempt, and the node uses leases until five minutes
// have passed without one as long. With [Handler.Leased] it always does.
//
// An error undoes the batch. If it names deliveries with [nexus.At], these are settled as [Node.On] would settle them alone, and
// the others run again at once; join several with [errors.Join]. If it names none, fn is called with halves, until it is known
// which ones fail. A batch that fails at its commit, or runs into its Timeout, runs again event by event. fn may see an event
// several times, but its effects commit once.
//
// When a process dies in an express batch, no attempt is counted. The consumer therefore uses leases until five minutes have been
// quiet, and the events of that batch run alone, so that one which kills its process is counted and becomes a dead letter.
//
// The events of a batch match the same handlers and come in the order of the queue as far as it goes. ctx carries no delivery: put
// each there with [nexus.WithDelivery] before emitting in its name.
func (n *Node) OnBatch(pattern string, fn func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error) *Handler {
	return n.register(&Handler{pattern: pattern, onBatch: fn})
}

// OnLeased handles without an open transaction, for slow or outside work: the lease is renewed while fn runs, and the delivery
// is acknowledged when fn has returned nil. It runs at least once; what commits with [queue.Ack] in a transaction of fn's own
// happens exactly once. Errors are those of On, with nothing to roll back.
func (n *Node) OnLeased(pattern string, fn func(ctx context.Context, d *nexus.Delivery) error) *Handler {
	return n.register(&Handler{pattern: pattern, onLeased: fn})
}

// Target takes handlers: a *Node, whose handlers are those of the consumer "default", or a *Consumer.
type Target interface{ register(h *Handler) *Handler }

func (n *Node) register(h *Handler) *Handler {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.consumers[0].add(n, h)
}

// OnT is [Node.On] with the payload decoded. One that does not decode is a failed attempt with the reason "decode"; fn is not
// called.
func OnT[T any](to Target, t nexus.EventType[T], fn func(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[T]) error) *Handler {
	h := &Handler{pattern: string(t)}
	if fn != nil {
		h.onTx = func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			typed, err := decode[T](d)
			if err != nil {
				return err
			}
			return fn(ctx, tx, typed)
		}
	}
	return to.register(h)
}

// OnBatchT is [Node.OnBatch] with the payloads decoded. Those that do not decode are failed attempts with the reason "decode"; fn
// gets the others.
func OnBatchT[T any](to Target, t nexus.EventType[T], fn func(ctx context.Context, tx pgx.Tx, batch []*nexus.DeliveryOf[T]) error) *Handler {
	h := &Handler{pattern: string(t)}
	if fn != nil {
		h.onBatch = func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
			typed := make([]*nexus.DeliveryOf[T], 0, len(batch))
			var bad []error
			for _, d := range batch {
				one, err := decode[T](d)
				if err != nil {
					bad = append(bad, nexus.At(d, err))
				} else {
					typed = append(typed, one)
				}
			}
			if len(bad) > 0 {
				return errors.Join(bad...) // the others come back without them
			}
			return fn(ctx, tx, typed)
		}
	}
	return to.register(h)
}

// OnLeasedT is [Node.OnLeased] with the payload decoded, as in [OnT].
func OnLeasedT[T any](to Target, t nexus.EventType[T], fn func(ctx context.Context, d *nexus.DeliveryOf[T]) error) *Handler {
	h := &Handler{pattern: string(t)}
	if fn != nil {
		h.onLeased = func(ctx context.Context, d *nexus.Delivery) error {
			typed, err := decode[T](d)
			if err != nil {
				return err
			}
			return fn(ctx, typed)
		}
	}
	return to.register(h)
}

func decode[T any](d *nexus.Delivery) (*nexus.DeliveryOf[T], error) {
	typed := &nexus.DeliveryOf[T]{Delivery: d}
	if err := d.Decode(&typed.Payload); err != nil {
		return nil, fmt.Errorf("%w: %w", invoke.ErrDecode, err)
	}
	return typed, nil
}
