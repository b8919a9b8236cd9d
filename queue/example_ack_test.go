package queue_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// A leased handler calls a service outside, then writes what came of it and settles the event in one transaction of its own.
func ExampleAck() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := pool.Exec(ctx, `create table charges (order_id text primary key, receipt text)`); err != nil {
		panic(err)
	}
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: "7", Cents: 700}, nil); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnLeasedT(n, OrderPlaced, func(ctx context.Context, d *nexus.DeliveryOf[Order]) error {
		receipt := fmt.Sprintf("%d cents charged", d.Payload.Cents) // the call, with d.IdempotencyKey()
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `insert into charges values ($1, $2)`, d.Payload.ID, receipt); err != nil {
				return err
			}
			return queue.Ack(ctx, tx, d.Delivery)
		})
	})
	handled, err := n.Work(ctx, 10) // a service calls Run
	fmt.Println(handled, err)

	var receipt string
	err = pool.QueryRow(ctx, `select receipt from charges where order_id = '7'`).Scan(&receipt)
	fmt.Println(receipt, err)
	// Output:
	// 1 <nil>
	// 700 cents charged <nil>
}
