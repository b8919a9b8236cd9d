// Command 8_consumers has two named consumers of one event. Each gets a delivery of its own, with its own attempts and its own mode: the mail goes out
// without an open transaction, the reservation is written in one that also holds the acknowledgement.
//
// The namespace is setup: it uses named consumers only. The program runs as a login in the roles nexus_producer and nexus_consumer, which may create
// consumers.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_fan', '{\"default_consumer\": \"off\"}')"
//	go run ./examples/8_consumers "$NEXUS_DATABASE_URL"
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
	shop                               = nexus.Namespace("example_fan")
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

	n := node.New(pool, node.Config{Namespace: shop})

	mailer := n.Subscribe("mailer", "order.placed")
	mailer.Retry = nexus.RetryPolicy{MaxAttempts: 20} // mail servers are away for long
	node.OnLeasedT(mailer, orderPlaced, func(_ context.Context, d *nexus.DeliveryOf[order]) error {
		fmt.Printf("%s: mail about order %d\n", d.Consumer, d.Payload.ID)
		return nil
	})

	stock := n.Subscribe("stock", "order.*")
	stock.MaxInFlight = 3 // over all nodes
	node.OnT(stock, orderPlaced, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[order]) error {
		// The reservation would be written here, with this tx.
		fmt.Printf("%s: order %d, reserved\n", d.Consumer, d.Payload.ID)
		return nil
	})

	// A service calls n.Run, which creates the two and goes on. Work creates them, handles what is due and returns.
	if _, err := n.Work(ctx, 100); err != nil {
		return err
	}
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: shop}, orderPlaced, order{ID: 7}, nil); err != nil {
		return err
	}
	handled, err := n.Work(ctx, 100)
	fmt.Println("handled", handled)
	return err
}
