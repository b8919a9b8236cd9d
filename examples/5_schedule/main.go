// Command 5_schedule declares the recurring tasks of a deployment, says what that changed and when they run next, and runs one now.
//
// The namespace is setup: an administrator makes it once, as migrations are run, and the program runs as a login in the roles
// nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_shop')"
//	go run ./examples/5_schedule "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

type account struct{ Name string }

const (
	shop                                = nexus.Namespace("example_shop")
	dayClosed  nexus.EventType[account] = "day.closed"
	bankPolled nexus.EventType[account] = "bank.polled"
)

// What "billing" no longer declares is deleted; tasks of others are left alone.
var tasks = schedule.Declared{Owner: "billing", Tasks: []schedule.Task{
	schedule.TaskOf(dayClosed, account{"main"}, schedule.Task{Namespace: shop, Name: "close-day", Cron: "30 2 * * *", Zone: "Europe/Berlin"}),
	schedule.TaskOf(bankPolled, account{"main"}, schedule.Task{Namespace: shop, Name: "poll-bank", Cron: "@every 90s", Overlap: schedule.Skip}),
}}

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

	// A service says n.Add(tasks): they are applied when n.Run starts.
	changes, err := tasks.Apply(ctx, pool, false)
	if err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Println(c.Action, c.Task, c.Field, c.From, c.To)
	}
	slots, err := schedule.NextRuns(ctx, pool, "30 2 * * *", "Europe/Berlin", time.Now(), 3)
	if err != nil {
		return err
	}
	fmt.Println("the day is closed at", slots)

	if err := schedule.RunTaskNow(ctx, pool, shop, "close-day"); err != nil {
		return err
	}
	n := node.New(pool, node.Config{Namespace: shop})
	node.OnT(n, dayClosed, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[account]) error {
		fmt.Printf("closing the day of account %s, task %s\n", d.Payload.Name, d.ScheduledTaskID)
		return nil
	})
	handled, err := n.Work(ctx, 100)
	fmt.Println("handled", handled)
	return err
}
