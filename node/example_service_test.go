package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type Order struct {
	ID    string
	Cents int64
}

const OrderPlaced nexus.EventType[Order] = "order.placed"

// A service: it handles until it is told to stop, then drains.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: "7", Cents: 700}, nil); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop", Grace: 20 * time.Second})
	node.OnT(n, OrderPlaced, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[Order]) error {
		fmt.Println("order", d.Payload.ID, "for", d.Payload.Cents, "cents")
		stop() // as SIGTERM does; what runs may finish
		return nil
	})
	fmt.Println(n.Run(ctx))
	// Output:
	// order 7 for 700 cents
	// <nil>
}

// What the handler writes and the acknowledgement commit together. Where it fails, both are undone and the event is tried again.
func ExampleOnT() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := pool.Exec(ctx, `create table revenue (cents bigint); insert into revenue values (0)`); err != nil {
		panic(err)
	}
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: "7", Cents: 700}, nil); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	h := node.OnT(n, OrderPlaced, func(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[Order]) error {
		if _, err := tx.Exec(ctx, `update revenue set cents = cents + $1`, d.Payload.Cents); err != nil {
			return err
		}
		if d.Attempt == 1 {
			return nexus.Retry(0) // undoes the update; due at once
		}
		return nil
	})
	h.Retry.MaxAttempts = 5
	handled, err := n.Work(ctx, 10) // a service calls Run
	fmt.Println(handled, "attempts,", err)

	var cents int64
	err = pool.QueryRow(ctx, `select cents from revenue`).Scan(&cents)
	fmt.Println(cents, err)
	// Output:
	// 2 attempts, <nil>
	// 700 <nil>
}

// Many events in one transaction: one statement for all of them. The bad ones are named.
func ExampleOnBatchT() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := pool.Exec(ctx, `create table placed (id text primary key, cents bigint)`); err != nil {
		panic(err)
	}
	var events []queue.Emission
	for i := range 100 {
		events = append(events, queue.EmissionOf(OrderPlaced, Order{ID: fmt.Sprint(i), Cents: int64(i)}, nil))
	}
	if _, err := (queue.Emitter{Namespace: "shop"}).EmitBatch(ctx, pool, events); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	h := node.OnBatchT(n, OrderPlaced, func(ctx context.Context, tx pgx.Tx, batch []*nexus.DeliveryOf[Order]) error {
		var rows [][]any
		var bad []error
		for _, d := range batch {
			if d.Payload.Cents == 0 {
				bad = append(bad, nexus.At(d.Delivery, nexus.Reject("no amount")))
			}
			rows = append(rows, []any{d.Payload.ID, d.Payload.Cents})
		}
		if len(bad) > 0 {
			return errors.Join(bad...) // these become dead letters; the others come again without them
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"placed"}, []string{"id", "cents"}, pgx.CopyFromRows(rows))
		return err
	})
	h.Batch = 500
	handled, err := n.Work(ctx, 1000) // a service calls Run
	fmt.Println(handled, err)

	var stored int
	err = pool.QueryRow(ctx, `select count(*) from placed`).Scan(&stored)
	fmt.Println(stored, err)
	// Output:
	// 100 <nil>
	// 99 <nil>
}

// A call to the outside, without a transaction. Fifty at once by default, however few connections the pool has.
func ExampleOnLeasedT() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: "7", Cents: 700}, nil); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	h := node.OnLeasedT(n, OrderPlaced, func(_ context.Context, d *nexus.DeliveryOf[Order]) error {
		// It may run twice, after a crash for one, so the service gets a key that stays the same.
		fmt.Println("charge", d.Payload.Cents, "with key of", len(d.IdempotencyKey()), "bytes")
		return nil
	})
	h.Timeout = 30 * time.Second
	h.Workers = 200
	handled, err := n.Work(ctx, 10) // a service calls Run
	fmt.Println(handled, err)
	// Output:
	// charge 700 with key of 49 bytes
	// 1 <nil>
}
