// Command 9_broadcast runs two nodes that keep a setting in memory each. A change of it is emitted once, as a broadcast, and both hear of it.
//
// The namespace is setup: it has no consumers, so its events go to nodes alone. The program runs as a login in the roles nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_all', '{\"default_consumer\": \"off\"}')"
//	go run ./examples/9_broadcast "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type rate struct {
	Percent int `json:"percent"`
}

const (
	shop                              = nexus.Namespace("example_all")
	rateChanged nexus.EventType[rate] = "rate.changed"
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

	heard := make(chan string, 2)
	ended := make(chan error, 2)
	for _, id := range []string{"till-1", "till-2"} { // in earnest each is a process of its own, whose id outlives its restarts
		n := node.New(pool, node.Config{Namespace: shop, ID: id})
		current := 0
		node.OnLeasedT(n.Broadcasts(), rateChanged, func(_ context.Context, d *nexus.DeliveryOf[rate]) error {
			current = d.Payload.Percent
			heard <- fmt.Sprintf("%s: the rate is %d %%", id, current)
			return nil
		})
		go func() { ended <- n.Run(ctx) }()
		for n.Ready() != nil { // what is emitted before a node has registered is not for it
			time.Sleep(10 * time.Millisecond)
		}
	}
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: shop}, rateChanged, rate{Percent: 19}, &queue.EmitOptions{Broadcast: true}); err != nil {
		return err
	}
	said := []string{<-heard, <-heard}
	slices.Sort(said)
	fmt.Println(said[0])
	fmt.Println(said[1])
	stop()
	return errors.Join(<-ended, <-ended)
}
