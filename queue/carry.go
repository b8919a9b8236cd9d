package queue

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Carry makes what SQL emits in q's transaction be caused by the delivery in ctx: functions and triggers of yours that call core.emit, and rows that
// it writes to watched tables. Leased handlers need it, for transactions of their own; in those of the node it has been said. What is emitted
// by an [Emitter] says so itself. Without a delivery in ctx it does nothing.
func Carry(ctx context.Context, q nexus.DBTX) error {
	d, _ := nexus.DeliveryFrom(ctx)
	cause := db.Cause(d)
	if cause == "" {
		return nil
	}
	var set string
	return db.Call(ctx, q, "carry", "select pg_catalog.set_config('nexus.cause', $1::text, true)", []any{cause}, &set)
}
