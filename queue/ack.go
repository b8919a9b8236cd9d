package queue

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/pgmqueue"
)

// Ack settles d as done inside the transaction that q points to, so that a leased handler's writes and the end of its
// delivery commit together. It fails with [nexus.ErrLeaseLost] if d is no longer the handler's to settle.
//
// What is settled is the delivery that the handler was called with, whatever became of d's fields since. One that was made by hand or
// overwritten is refused with [nexus.ErrInvalid], and so is that of a handler whose transaction is the node's.
//
// If the transaction rolls back, the ack goes with it, and what the handler returns counts as usual.
func Ack(ctx context.Context, q nexus.DBTX, d *nexus.Delivery) error {
	return pgmqueue.AckIn(ctx, q, d)
}
