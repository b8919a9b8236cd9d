// Command 11_workflow sells tea: it reserves a package, waits for an approval, charges, and puts the package back where the card is declined.
//
// The program runs as a login in the roles nexus_producer, to start and to signal, and nexus_consumer, to run.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_flow')" -c "create table example_stock (sku text primary key, n int)" \
//	  -c "insert into example_stock values ('tea', 2)" -c "grant select, update on example_stock to public"
//	go run ./examples/11_workflow "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

type (
	order    struct{ SKU, Card string }
	approval struct{ By string }
	run      = workflow.Run[order]
)

const shop = nexus.Namespace("example_flow")

func orderFlow() *workflow.Workflow[order, string] {
	w := workflow.New[order, string]("order")
	reserve := workflow.TxStep(w, "reserve", func(ctx context.Context, tx pgx.Tx, r *run) (left int, err error) {
		err = tx.QueryRow(ctx, "update public.example_stock set n = n - 1 where sku = $1 returning n", r.Input.SKU).Scan(&left)
		return left, err
	})
	reserve.CompensateTx(func(ctx context.Context, tx pgx.Tx, r *run, _ int) error {
		_, err := tx.Exec(ctx, "update public.example_stock set n = n + 1 where sku = $1", r.Input.SKU)
		return err
	})
	approved := workflow.WaitForSignal[approval](w, "approved", 48*time.Hour)
	charge := workflow.Step(w, "charge", func(_ context.Context, r *run) (string, error) {
		switch {
		case approved.Result(r) == nil: // the two days went by
			return "", nexus.Reject("not approved")
		case r.Input.Card == "stolen":
			return "", nexus.Reject("card declined") // no more attempts: what was done is undone
		}
		return "payment approved by " + approved.Result(r).By, nil // a bank would get r.IdempotencyKey()
	})
	w.Returns(func(r *run) (string, error) { return charge.Result(r), nil })
	return w
}

func main() {
	flag.Parse()
	if err := sell(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sell(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()

	flow := orderFlow()
	n := node.New(pool, node.Config{Namespace: shop})
	n.Add(flow)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	for _, o := range []order{{SKU: "tea", Card: "good"}, {SKU: "tea", Card: "stolen"}} {
		id, _, err := flow.Start(ctx, pool, shop, o, nil)
		for errors.Is(err, nexus.ErrNotFound) { // until a node has registered the workflow, for the first time ever
			time.Sleep(10 * time.Millisecond)
			id, _, err = flow.Start(ctx, pool, shop, o, nil)
		}
		if err != nil {
			return err
		}
		if _, err := workflow.Signal(ctx, pool, id, "approved", approval{By: "ann"}); err != nil {
			return err
		}
		out, err := flow.Await(ctx, pool, id)
		if end, failed := errors.AsType[*workflow.RunError](err); failed {
			out = end.Reason
		} else if err != nil {
			return err
		}
		fmt.Println(out)
	}
	var left int
	if err := pool.QueryRow(ctx, "select n from public.example_stock where sku = 'tea'").Scan(&left); err != nil {
		return err
	}
	fmt.Printf("%d left of 2\n", left)
	stop()
	return <-ended
}
