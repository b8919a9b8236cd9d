package node_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// A handler is added to a node that runs, and taken away again.
func ExampleNode_Apply() {
	ctx, stop := context.WithCancel(context.Background())
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	n := node.New(pool, node.Config{Namespace: "shop"})
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()

	bus := queue.Emitter{Namespace: "shop"}
	if _, err := queue.EmitT(ctx, pool, bus, dayClosed, day{"main street"}, nil); err != nil { // it waits for a handler
		panic(err)
	}
	handled := make(chan string, 1)
	h := node.OnT(n, dayClosed, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[day]) error {
		handled <- d.Payload.Shop
		return nil
	})
	fmt.Println(n.Apply(ctx))
	fmt.Println("closing", <-handled)

	h.Remove()
	fmt.Println(n.Apply(ctx))
	<-h.Done() // it is called no more
	stop()
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// closing main street
	// <nil>
	// <nil>
}
