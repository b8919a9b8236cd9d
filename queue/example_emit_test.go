package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

type Order struct {
	ID    string
	Cents int64
}

const OrderPlaced nexus.EventType[Order] = "order.placed"

// The order and its event commit together, or neither does.
func ExampleEmitT() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := pool.Exec(ctx, `create table orders (id text primary key, cents bigint)`); err != nil {
		panic(err)
	}

	bus := queue.Emitter{Namespace: "shop"}
	place := func(o Order) (receipt queue.Receipt, err error) {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `insert into orders values ($1, $2)`, o.ID, o.Cents); err != nil {
				return err
			}
			receipt, err = queue.EmitT(ctx, tx, bus, OrderPlaced, o, nil)
			return err
		})
		return receipt, err
	}
	receipt, err := place(Order{ID: "7", Cents: 700})
	fmt.Println(receipt.EventID > 0, err)
	_, err = place(Order{ID: "7", Cents: 700}) // no second row, so no second event
	fmt.Println(err != nil)
	// Output:
	// true <nil>
	// true
}

// A dedupe key makes an event that is sent twice one event; a delay holds it back.
func ExampleEmitOptions() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	bus := queue.Emitter{Namespace: "shop"}
	opts := &queue.EmitOptions{DedupeKey: "order-7", Delay: 10 * time.Minute, Tags: []string{"web"}}
	for range 2 {
		receipt, err := queue.EmitT(ctx, pool, bus, OrderPlaced, Order{ID: "7"}, opts)
		fmt.Println(receipt.Duplicate, err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

// Many events in one statement: all or none.
func ExampleEmitter_EmitBatch() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	var batch []queue.Emission
	for i := range 1000 {
		batch = append(batch, queue.EmissionOf(OrderPlaced, Order{ID: fmt.Sprint(i)}, nil))
	}
	receipts, err := queue.Emitter{Namespace: "shop"}.EmitBatch(ctx, pool, batch)
	fmt.Println(len(receipts), err)
	// Output: 1000 <nil>
}

// One value wraps both ends: here it counts what is emitted, and would see what is handled if it were given to node.Config as well.
func ExampleMiddleware() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	emitted := 0
	count := queue.Middleware{
		Emit: func(ctx context.Context, batch []queue.Emission, next func(context.Context) error) error {
			err := next(ctx)
			if err == nil {
				emitted += len(batch)
			}
			return err
		},
		Handle: func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error {
			return next(ctx)
		},
	}
	bus := queue.Emitter{Namespace: "shop", Middleware: []queue.Middleware{count}}
	_, err := queue.EmitT(ctx, pool, bus, OrderPlaced, Order{ID: "7"}, nil)
	fmt.Println(emitted, err)
	// Output: 1 <nil>
}
