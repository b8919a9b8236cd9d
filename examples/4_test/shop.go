// Package shop stands for the application under test, as a program would be: its test is what this example is about.
package shop

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// Order is the payload of both events.
type Order struct{ ID, Customer string }

// What the program emits.
const (
	OrderPlaced  nexus.EventType[Order] = "order.placed"
	OrderCounted nexus.EventType[Order] = "order.counted"
)

var bus = queue.Emitter{Namespace: "shop"}

func count(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[Order]) error {
	if d.Payload.Customer == "" {
		return nexus.Reject("no customer")
	}
	if d.Attempt == 1 {
		return nexus.Retry(time.Hour)
	}
	_, err := queue.EmitT(ctx, tx, bus, OrderCounted, d.Payload, nil) // correlation and causation come from ctx
	return err
}

func newNode(pool *pgxpool.Pool) *node.Node {
	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnT(n, OrderPlaced, count)
	return n
}
