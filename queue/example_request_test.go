package queue_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type (
	Basket struct{ Items []string }
	Price  struct{ Cents int }
)

// PriceOf is the name of the handler that knows what baskets cost, with what it takes.
const PriceOf nexus.EventType[Basket] = "price"

// A program asks for a price, and a node has it.
func ExampleRequest() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnRequest(n, PriceOf, func(_ context.Context, d *nexus.DeliveryOf[Basket]) (Price, error) {
		if len(d.Payload.Items) == 0 {
			return Price{}, nexus.Reject("the basket is empty")
		}
		return Price{Cents: 250 * len(d.Payload.Items)}, nil
	})
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }() // in another program

	bus := queue.Emitter{Namespace: "shop"}
	ask := func(b Basket) (Price, error) {
		for {
			p, err := queue.Request[Price](ctx, pool, bus, PriceOf, b)
			if e, ok := errors.AsType[*queue.ReplyError](err); ok && e.Status == 503 {
				continue // the node is not there yet
			}
			return p, err
		}
	}
	fmt.Println(ask(Basket{Items: []string{"tea", "cup"}}))
	fmt.Println(ask(Basket{}))
	stop()
	fmt.Println(<-ended)
	// Output:
	// {500} <nil>
	// {0} request: 422 the basket is empty
	// <nil>
}
