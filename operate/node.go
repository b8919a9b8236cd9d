package operate

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// DrainNode asks a node to drain and end as it would by SIGTERM: it claims no more, finishes what runs within its grace time and gives back
// the rest. It returns at once; the state in core.node_status says when the node has stopped. It is false if the node is not running.
// A node that never was is [nexus.CodeNoNode]. reason is kept in the audit log; it may be empty. It needs the duty to operate.
func DrainNode(ctx context.Context, q nexus.DBTX, nodeID, reason string) (asked bool, err error) {
	err = db.Call(ctx, q, "drain_node", "select core.drain_node($1::text, nullif($2::text, ''))", []any{nodeID, reason}, &asked)
	return asked, err
}

// ForgetNode counts a node that was killed as lost at once, so that another may take its id; one that is lost already is taken off the list.
// It is false if the node had stopped. A node that lives nevertheless registers anew with its next heartbeat. reason is kept in the
// audit log; it may be empty. It needs the duty to operate.
func ForgetNode(ctx context.Context, q nexus.DBTX, nodeID, reason string) (forgotten bool, err error) {
	err = db.Call(ctx, q, "forget_node", "select core.forget_node($1::text, nullif($2::text, ''))", []any{nodeID, reason}, &forgotten)
	return forgotten, err
}
