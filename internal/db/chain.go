package db

import (
	"context"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// Chain adds correlation_id, causation_uid and depth. What the caller leaves open comes from the delivery that the context
// carries, so that an event says what it follows from.
func (o *Options) Chain(ctx context.Context, correlation string, causation uuid.UUID) {
	if d, ok := nexus.DeliveryFrom(ctx); ok {
		o.Number("depth", int64(d.Depth)+1)
		if causation == uuid.Nil {
			causation = d.UID
		}
		if correlation == "" {
			correlation = d.CorrelationID
		}
		if correlation == "" && d.UID != uuid.Nil {
			correlation = d.UID.String()
		}
	}
	o.Text("correlation_id", correlation)
	if causation != uuid.Nil {
		o.Text("causation_uid", causation.String())
	}
}
