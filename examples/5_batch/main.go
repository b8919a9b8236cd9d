// Command 5_batch stores page views with one COPY for many events. An event that is no good is named, so that it alone is buried and
// the others run again at once.
//
// The namespace and the table are setup: they are made once, by an administrator, and the program runs as a login in the roles
// nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_web')"
//	psql "$NEXUS_DATABASE_URL" -c "create table example_views (id uuid primary key, page text, at timestamptz)"
//	psql "$NEXUS_DATABASE_URL" -c "grant insert on example_views to your_login"
//	go run ./examples/5_batch "$NEXUS_DATABASE_URL"
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
	"github.com/nexuspg/nexus/queue"
)

type view struct {
	Page string `json:"page"`
}

const (
	web                              = nexus.Namespace("example_web")
	pageViewed nexus.EventType[view] = "page.viewed"
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
	batch := make([]queue.Emission, 0, 1000)
	for i := range cap(batch) {
		batch = append(batch, queue.EmissionOf(pageViewed, view{Page: fmt.Sprintf("/page/%d", i%7)}, nil))
	}
	batch[500].Payload = view{} // no page
	if _, err := (queue.Emitter{Namespace: web}).EmitBatch(ctx, pool, batch); err != nil {
		return err
	}

	n := node.New(pool, node.Config{Namespace: web})
	h := node.OnBatchT(n, pageViewed, store)
	h.Batch = 500
	h.Linger = 20 * time.Millisecond // a service would rather wait that long than store a few
	handled, err := n.Work(ctx, 10_000)
	fmt.Println("handled", handled)
	return err
}

// store runs in one transaction, which holds the acknowledgements of the whole batch as well.
func store(ctx context.Context, tx pgx.Tx, batch []*nexus.DeliveryOf[view]) error {
	rows := make([][]any, len(batch))
	var bad []error
	for i, d := range batch {
		if d.Payload.Page == "" {
			bad = append(bad, nexus.At(d.Delivery, nexus.Reject("no page")))
		}
		rows[i] = []any{d.UID, d.Payload.Page, d.EmittedAt}
	}
	if len(bad) > 0 {
		return errors.Join(bad...) // these are buried, the others come again without them
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"example_views"}, []string{"id", "page", "at"}, pgx.CopyFromRows(rows))
	return err
}
