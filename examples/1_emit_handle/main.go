// Command 1_emit_handle writes an order and its event in one transaction, and handles the event in another that also holds the
// acknowledgement: each is there once, or not at all.
//
// The namespace is setup: an administrator makes it once, as migrations are run, and the program runs as a login in the roles
// nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_shop')"
//	go run ./examples/1_emit_handle "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type order struct {
	ID int `json:"id"`
}

const (
	shop                               = nexus.Namespace("example_shop")
	orderPlaced nexus.EventType[order] = "order.placed"
)

func main() {
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()

	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// The rows of the order itself would be written here, with the same tx.
		receipt, err := queue.EmitT(ctx, tx, queue.Emitter{Namespace: shop}, orderPlaced, order{ID: 7}, nil)
		if err != nil {
			return err
		}
		fmt.Println("emitted", receipt.EventUID)
		return nil
	})
	if err != nil {
		return err
	}

	n := node.New(pool, node.Config{Namespace: shop})
	node.OnT(n, orderPlaced, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[order]) error {
		fmt.Printf("order %d, attempt %d\n", d.Payload.ID, d.Attempt)
		return nil
	})
	// A service calls n.Run; Work handles what is due and returns.
	handled, err := n.Work(ctx, 100)
	fmt.Println("handled", handled)
	return err
}
