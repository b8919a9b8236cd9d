// Command 5_schedule declares the recurring tasks of a deployment, says what that changed and when they run next, and runs one now.
//
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
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

const shop = nexus.Namespace("example_shop")

// What "billing" no longer declares is deleted; tasks of others are left alone.
var tasks = schedule.Declared{Owner: "billing", Tasks: []schedule.Task{
	{Namespace: shop, Name: "close-day", Cron: "30 2 * * *", Zone: "Europe/Berlin", Type: "day.closed"},
	{Namespace: shop, Name: "poll-bank", Cron: "@every 90s", Type: "bank.polled", Overlap: schedule.Skip},
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
	if err := queue.CreateNamespace(ctx, pool, shop, nil); err != nil {
		return err
	}

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
	n.On("day.closed", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		fmt.Println("closing the day, task", d.ScheduledTaskID)
		return nil
	})
	handled, err := n.Work(ctx, 100)
	fmt.Println("handled", handled)
	return err
}
