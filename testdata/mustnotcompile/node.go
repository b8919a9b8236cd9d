package mustnotcompile

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
)

func handlers(n *node.Node) {
	// Controls: these are right.
	node.OnT(n, userCreated, func(context.Context, pgx.Tx, *nexus.DeliveryOf[user]) error { return nil })
	node.OnLeasedT(n, userCreated, func(context.Context, *nexus.DeliveryOf[user]) error { return nil })

	// Another payload; no transaction where there is one, one where there is none; a handler for nothing in particular.
	node.OnT(n, userCreated, func(context.Context, pgx.Tx, *nexus.DeliveryOf[order]) error { return nil })      // want "order.* does not match"
	node.OnT(n, userCreated, func(context.Context, *nexus.DeliveryOf[user]) error { return nil })               // want "does not match"
	node.OnLeasedT(n, userCreated, func(context.Context, pgx.Tx, *nexus.DeliveryOf[user]) error { return nil }) // want "does not match"
	n.OnLeased("user.created", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })             // want "cannot use func"
	n.On(userCreated, func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })                      // want "cannot use userCreated .* as string"
	node.New(nil, node.Config{Namespace: string(userCreated)})                                                  // want "cannot use string.* as nexus.Namespace"
}
