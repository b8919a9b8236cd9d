package queue

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/db"
)

// Ack settles d as done inside the transaction that q points to, so that a leased handler's writes and the end of its
// delivery commit together. It fails with [nexus.ErrLeaseLost] if d is no longer the handler's to settle.
//
// If the transaction rolls back, the ack goes with it, and what the handler returns counts as usual.
func Ack(ctx context.Context, q nexus.DBTX, d *nexus.Delivery) error {
	if d == nil {
		return &nexus.Error{Op: "ack", Code: nexus.CodeArgumentValue, Field: "d", Message: "there is no delivery", Hint: "give the one that the handler was called with"}
	}
	err := db.Do(ctx, q, "ack", "core.ack($1::text, $2::text, $3::bigint, $4::int)",
		string(d.Namespace), d.Consumer, d.MessageID, d.Attempt+d.Deferrals)
	if err != nil {
		return err
	}
	consume.NoteAck(d)
	return nil
}
