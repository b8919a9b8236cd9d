package db

import (
	"context"
	"strconv"

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

// Cause is what nexus.cause is while d is handled: depth, uid and correlation id, as core_private.cause_of has them; empty for what has no uid.
func Cause(d *nexus.Delivery) string {
	if d == nil || d.UID == uuid.Nil {
		return ""
	}
	cause := strconv.Itoa(d.Depth) + " " + d.UID.String()
	if correlation := []rune(d.CorrelationID); len(correlation) > 0 {
		cause += " " + string(correlation[:min(len(correlation), 200)])
	}
	return cause
}
