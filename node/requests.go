package node

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/answer"
	"github.com/nexuspg/nexus/internal/pgmqueue"
)

// OnRequest answers requests for a name, as [queue.Request] and core.request make them: what fn returns is the reply. The name is that of a handler, up to
// 100 of A-Z, a-z, 0-9 and ". _ / -", a letter or digit first, and no pattern. It has to be registered before Run, unless [Node.Apply] follows. [Node.Work]
// answers what waits, but whoever asks is told that nobody is there unless some node runs.
//
// fn runs without a transaction, at most once: if its process dies, whoever asked hears 502 when the lease ends, and nothing runs again. An error is 500,
// and so is a panic; [nexus.Reject], and a payload that does not decode into T, are 422; [nexus.Release] and [nexus.Retry] are 503, as is an error after the node
// began to drain. ctx ends when nobody waits any more, besides its other ends. What fn did for nobody is kept in core.abandoned_executions.
//
// Of the fields of the Handler, Retry and those of batches have no meaning, and are refused.
func OnRequest[T, R any](n *Node, t nexus.EventType[T], fn func(ctx context.Context, d *nexus.DeliveryOf[T]) (R, error)) *Handler {
	h := &Handler{pattern: string(t)}
	if fn != nil {
		h.answer = func(ctx context.Context, d *nexus.Delivery) (any, error) {
			typed, err := decode[T](d)
			if err != nil {
				return nil, err
			}
			return fn(ctx, typed)
		}
	}
	return n.Routed(pgmqueue.Requests).register(h)
}

// answering makes a leased handler of what answers requests.
func (s *plan) answering(fn func(ctx context.Context, d *nexus.Delivery) (any, error)) func(context.Context, *nexus.Delivery) error {
	a := &answer.Answerer{Logger: s.Logger, Answered: s.answered}
	return a.Handler(fn)
}

// answered notes an answer of this node.
func (s *plan) answered(ctx context.Context, status int, fault string, took time.Duration, abandoned bool) {
	if fault != "" {
		trace.SpanFromContext(ctx).SetStatus(codes.Error, fault)
	}
	if s.metrics != nil {
		s.metrics.Request(s.Namespace, status, took, abandoned)
	}
}
