// Command 10_request runs a node that knows what things cost, and asks it, as another program would.
//
// The program runs as a login in the roles nexus_producer, to ask, and nexus_consumer, to answer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_ask')"
//	go run ./examples/10_request "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type (
	basket struct{ Items []string }
	price  struct{ Cents int }
)

const (
	shop                            = nexus.Namespace("example_ask")
	priceOf nexus.EventType[basket] = "price"
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
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()

	n := node.New(pool, node.Config{Namespace: shop})
	node.OnRequest(n, priceOf, func(_ context.Context, d *nexus.DeliveryOf[basket]) (price, error) {
		if len(d.Payload.Items) == 0 {
			return price{}, nexus.Reject("the basket is empty")
		}
		return price{Cents: 250 * len(d.Payload.Items)}, nil
	})
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	for n.Ready() != nil { // who asks before that hears 503: nobody is there
		time.Sleep(10 * time.Millisecond)
	}

	bus := queue.Emitter{Namespace: shop}
	p, err := queue.Request[price](ctx, pool, bus, priceOf, basket{Items: []string{"tea", "cup"}})
	if err != nil {
		return err
	}
	fmt.Printf("tea and a cup are %d cents\n", p.Cents)
	_, err = queue.Request[price](ctx, pool, bus, priceOf, basket{})
	if no, ok := errors.AsType[*queue.ReplyError](err); ok {
		fmt.Printf("nothing: %d, %s\n", no.Status, no.Message)
	}
	stop()
	return <-ended
}
