// Command 12_trip books a trip. docs/tutorials/workflow.md shows it step by step.
//
// The program runs as a login in the roles nexus_producer, to start, and nexus_consumer, to run.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_trips')" -c "create table example_seats (seat int primary key, name text)" \
//	  -c "insert into example_seats values (1), (2), (3)" -c "grant select, update on example_seats to public"
//	go run ./examples/12_trip [-die] "$NEXUS_DATABASE_URL" ann
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

func main() {
	die := flag.Bool("die", false, "die while the hotel is booked")
	flag.Parse()
	if err := travel(context.Background(), flag.Arg(0), cmp.Or(flag.Arg(1), "ann"), *die); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// travel begins the trip of that name, or goes on with it, and waits for its end.
func travel(ctx context.Context, url, name string, die bool) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()

	flow := newTrip(die)
	n := node.New(pool, node.Config{Namespace: "example_trips"})
	n.Add(flow)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()

	start := func() (id uuid.UUID, err error) {
		id, _, err = flow.Start(ctx, pool, "example_trips", trip{Name: name}, &workflow.StartOptions{IdempotencyKey: name, Tags: []string{name}})
		return id, err
	}
	id, err := start()
	for errors.Is(err, nexus.ErrNotFound) { // until a node has registered the workflow, for the first time ever
		time.Sleep(10 * time.Millisecond)
		id, err = start()
	}
	if err != nil {
		return err
	}
	out, err := flow.Await(ctx, pool, id)
	if end, failed := errors.AsType[*workflow.RunError](err); failed {
		out = "no trip: " + end.Reason
	} else if err != nil {
		return err
	}
	fmt.Println(out)
	stop()
	return <-ended
}
