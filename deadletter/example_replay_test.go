package deadletter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type Order struct{ ID string }

const OrderPlaced nexus.EventType[Order] = "order.placed"

// What was given up is looked at, and delivered again when the handler is mended.
func Example() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	broken := true
	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnT(n, OrderPlaced, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[Order]) error {
		if broken {
			return nexus.Reject("no such customer")
		}
		fmt.Println("order", d.Payload.ID, "attempt", d.Attempt)
		return nil
	})
	for _, id := range []string{"7", "8"} {
		if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: id}, nil); err != nil {
			panic(err)
		}
	}
	if _, err := n.Work(ctx, 10); err != nil {
		panic(err)
	}

	lost := deadletter.Filter{Namespace: "shop", Type: string(OrderPlaced), Reason: "no such customer"}
	groups, err := deadletter.Preview(ctx, pool, lost, 5)
	if err != nil {
		panic(err)
	}
	for _, g := range groups {
		fmt.Println(g.Count, g.Type, g.Reason)
	}

	broken = false
	result, err := deadletter.Replay(ctx, pool, lost, nil)
	fmt.Println(result.Done, err)
	if _, err := n.Work(ctx, 10); err != nil {
		panic(err)
	}
	// Output:
	// 2 order.placed no such customer
	// 2 <nil>
	// order 7 attempt 1
	// order 8 attempt 1
}

// What is not wanted any more is settled without being delivered, for a reason that is kept.
func ExampleDiscard() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	result, err := deadletter.Discard(ctx, pool, deadletter.Filter{Namespace: "shop", Type: "test.*"}, "left by a test")
	fmt.Println(result.Matched, err)
	// Output: 0 <nil>
}

// A program mends dead letters one by one. While it holds a claim nobody else moves the dead letter; what it cannot mend it gives back.
func ExampleClaim() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnT(n, OrderPlaced, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[Order]) error {
		if d.Payload.ID == "" {
			return nexus.Reject("no order")
		}
		fmt.Println("order", d.Payload.ID)
		return nil
	})
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{}, nil); err != nil {
		panic(err)
	}
	if _, err := n.Work(ctx, 10); err != nil {
		panic(err)
	}

	claimed, err := deadletter.Claim(ctx, pool, deadletter.Filter{Namespace: "shop", Reason: "no order", Limit: 10}, time.Minute)
	if err != nil {
		panic(err)
	}
	for _, c := range claimed {
		if _, err := deadletter.ReplayClaimed(ctx, pool, c, json.RawMessage(`{"ID": "7"}`)); err != nil {
			panic(err)
		}
	}
	if _, err := n.Work(ctx, 10); err != nil {
		panic(err)
	}
	// Output: order 7
}
