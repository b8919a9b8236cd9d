package node_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

type day struct{ Shop string }

const dayClosed nexus.EventType[day] = "day.closed"

// A node declares the tasks of its deployment, and handles what they emit like any other event.
func ExampleNode_Add() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	n := node.New(pool, node.Config{Namespace: "shop"})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{
		schedule.TaskOf(dayClosed, day{"main street"}, schedule.Task{Name: "close-day", Cron: "30 2 * * *", Zone: "Europe/Berlin"}),
	}})
	node.OnT(n, dayClosed, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[day]) error {
		fmt.Println("closing", d.Payload.Shop)
		return nil
	})

	handled, err := n.Work(ctx, 10) // a service calls Run
	fmt.Println(handled, err)
	if err := schedule.RunTaskNow(ctx, pool, "shop", "close-day"); err != nil { // rather than wait for the night
		panic(err)
	}
	handled, err = n.Work(ctx, 10)
	fmt.Println(handled, err)
	// Output:
	// 0 <nil>
	// closing main street
	// 1 <nil>
}

// A script, or a job of another scheduler, handles what is due and ends.
func ExampleNode_Work() {
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	n := node.New(pool, node.Config{Namespace: "shop"})
	node.OnT(n, dayClosed, func(context.Context, pgx.Tx, *nexus.DeliveryOf[day]) error { return nil })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	handled, err := n.Work(ctx, 1000)
	fmt.Println(handled, err)
	// Output: 0 <nil>
}
