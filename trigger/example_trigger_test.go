package trigger_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
)

// Orders from one country are mailed, by a handler of the node.
func ExampleCreate() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	_, err := trigger.Create(ctx, pool, trigger.Trigger{
		Namespace: "shop", Name: "mail-germans", Target: "go:mail",
		Event: &trigger.Event{Pattern: "order.*", Contains: json.RawMessage(`{"country": "DE"}`)},
		Retry: nexus.RetryPolicy{MaxAttempts: 5},
	})
	if err != nil {
		panic(err)
	}
	n := node.New(pool, node.Config{Namespace: "shop"})
	n.Triggers().On("mail", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		fmt.Println(d.Trigger, d.Target, d.Type, string(d.Payload))
		return nil
	})
	n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })

	shop := queue.Emitter{Namespace: "shop"}
	for _, country := range []string{"DE", "FR"} {
		if _, err := shop.Emit(ctx, pool, "order.made", map[string]string{"country": country}, nil); err != nil {
			panic(err)
		}
	}
	if _, err := n.Work(ctx, 10); err != nil {
		panic(err)
	}
	// Output: mail-germans go:mail order.made {"country": "DE"}
}
