package node

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/consume"
)

// Handler is a registration. Its fields may be set until Run.
type Handler struct {
	Name    string            // in logs; "": the pattern
	Retry   nexus.RetryPolicy // zero fields: Config.Retry, then the consumer's and the namespace's
	Timeout time.Duration     // of one attempt; 0: Config.Timeout; negative: none
	Workers int               // at once on this node; 0: Config.Workers

	pattern string
	tx      func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error
	leased  func(ctx context.Context, d *nexus.Delivery) error
}

// On handles an event type ("prefix.*", "prefix:*" and "*" are patterns) in a transaction that also holds the acknowledgement:
// what fn writes there and the end of the delivery commit together, exactly once. tx may be nested with Begin; Commit and
// Rollback are the node's, and refused. Ending it by a statement (commit, rollback) may commit effects without the
// acknowledgement, so the delivery becomes a dead letter at once, with the reason "transaction ended". All handlers that match an event run in the order of their registration, in one transaction, and
// must be of one mode.
//
// An error undoes all of them and the event is tried again by policy; [nexus.Retry], [nexus.Reject] and [nexus.Release] say
// otherwise. A panic, runtime.Goexit and a nil pointer in an error value are failures. ctx carries the values of Run's context
// and the delivery; it ends at Timeout (30 min), when the lease is lost (cause [nexus.ErrLeaseLost]) and when the node has
// drained for Grace (cause [nexus.ErrDraining]).
func (n *Node) On(pattern string, fn func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error) *Handler {
	return n.register(&Handler{pattern: pattern, tx: fn})
}

// OnLeased handles without an open transaction, for slow or outside work: the lease is renewed while fn runs, and the delivery
// is acknowledged when fn has returned nil. It runs at least once; what commits with [queue.Ack] in a transaction of fn's own
// happens exactly once. Errors are those of On, with nothing to roll back.
func (n *Node) OnLeased(pattern string, fn func(ctx context.Context, d *nexus.Delivery) error) *Handler {
	return n.register(&Handler{pattern: pattern, leased: fn})
}

// Target takes handlers: a *Node, whose handlers are those of the consumer "default".
type Target interface{ register(h *Handler) *Handler }

func (n *Node) register(h *Handler) *Handler {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handlers = append(n.handlers, h)
	return h
}

// OnT is [Node.On] with the payload decoded. One that does not decode is a failed attempt with the reason "decode"; fn is not
// called.
func OnT[T any](to Target, t nexus.EventType[T], fn func(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[T]) error) *Handler {
	h := &Handler{pattern: string(t)}
	if fn != nil {
		h.tx = func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			typed, err := decode[T](d)
			if err != nil {
				return err
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
		h.leased = func(ctx context.Context, d *nexus.Delivery) error {
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
		return nil, fmt.Errorf("%w: %w", consume.ErrDecode, err)
	}
	return typed, nil
}
