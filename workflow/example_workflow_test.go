package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// What was booked is taken back when a later step fails for good.
func Example() {
	pool, done := dbtest.Example("shop")
	defer done()
	ctx := context.Background()

	type trip struct{ To string }
	type run = workflow.Run[trip]
	flow := workflow.New[trip, string]("trip")
	flight := workflow.Step(flow, "flight", func(_ context.Context, r *run) (string, error) {
		fmt.Println("book a flight to", r.Input.To)
		return "seat 7", nil
	})
	flight.Compensate(func(_ context.Context, _ *run, seat string) error {
		fmt.Println("give back", seat)
		return nil
	})
	workflow.Sleep(flow, "a-while", time.Millisecond)
	workflow.Step(flow, "hotel", func(_ context.Context, r *run) (string, error) {
		return "", nexus.Reject("no room left")
	})
	flow.Returns(func(r *run) (string, error) { return flight.Result(r), nil })

	n := node.New(pool, node.Config{Namespace: "shop"})
	n.Add(flow)
	work := func() { // a program calls Run
		if _, err := n.Work(ctx, 10); err != nil {
			log.Fatal(err)
		}
	}
	work() // registers the workflow
	id, _, err := flow.Start(ctx, pool, "shop", trip{To: "Oslo"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, err = flow.Await(short(ctx), pool, id); errors.Is(err, context.DeadlineExceeded); _, err = flow.Await(short(ctx), pool, id) {
		work()
	}
	if end, failed := errors.AsType[*workflow.RunError](err); failed {
		fmt.Println(end.Status, "at", end.Step+":", end.Reason)
	}
	// Output:
	// book a flight to Oslo
	// give back seat 7
	// failed at hotel: no room left
}

func short(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	context.AfterFunc(ctx, cancel)
	return ctx
}
