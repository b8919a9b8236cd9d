package handlers

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// One runs the handlers of one item in order, inside the middleware. Each gets a copy of the delivery, and the context carries that.
func (r *Route) One(ctx context.Context, middleware []invoke.Middleware, tx Lender, it work.Item) error {
	leased := r.Handlers[0].Leased != nil
	var outer *nexus.Delivery // as the middleware got it
	run := func(ctx context.Context) error {
		under, _ := nexus.DeliveryFrom(ctx)
		for _, h := range r.Handlers {
			d, of := it.Handed(leased), ctx
			if outer == nil || under == outer { // else a middleware put another one there
				of = nexus.WithDelivery(ctx, d)
			}
			if err := h.call(of, tx, d); err != nil {
				return err
			}
		}
		return nil
	}
	if len(middleware) == 0 {
		return run(ctx)
	}
	outer = it.Handed(leased)
	return invoke.Wrapped(nexus.WithDelivery(ctx, outer), middleware, []*nexus.Delivery{outer}, run)
}

// About names a delivery and its handlers in the log.
func (r *Route) About(d *nexus.Delivery) []any {
	if r == nil {
		return About(d) // it has no handler here
	}
	return append(About(d), "handler", r.name)
}

// About names a delivery in the log, without its payload.
func About(d *nexus.Delivery) []any {
	return []any{"event_type", d.Type, "event_id", d.ID, "message_id", d.MessageID, "consumer", d.Consumer, "attempt", d.Attempt}
}
