package outbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// Payments of a customer are handled in the order in which they were made.
func Example() {
	pool, done := dbtest.Example("shop")
	defer done()
	ctx := context.Background()
	if _, err := outbox.RegisterQueue(ctx, pool, "shop", "payments", 4, nil); err != nil {
		log.Fatal(err)
	}

	// In the transaction of what it speaks of.
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, amount := range []string{"+100", "-30", "-50"} {
			m := outbox.Message{Queue: "payments", Key: "customer-7", Type: "text/plain", Body: []byte(amount)}
			if _, err := outbox.Enqueue(ctx, tx, "shop", m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	n.Add(outbox.Handle("payments", func(_ context.Context, _ pgx.Tx, m *outbox.Item) error {
		fmt.Printf("%d: %s\n", m.Seq, m.Body)
		return nil
	}))
	if _, err := n.Work(ctx, 10); err != nil { // a program calls Run
		log.Fatal(err)
	}
	// Output:
	// 1: +100
	// 2: -30
	// 3: -50
}
