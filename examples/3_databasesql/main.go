// Command 3_databasesql emits inside a transaction of database/sql, as a program does that has no pgx pool of its own.
//
// The namespace is setup: an administrator makes it once, as migrations are run, and the program runs as a login in the roles
// nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_sql')"
//	go run ./examples/3_databasesql "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver must be this one

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

type order struct {
	ID int `json:"id"`
}

const (
	shop                               = nexus.Namespace("example_sql")
	orderPlaced nexus.EventType[order] = "order.placed"
)

func main() {
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	// A second run with this key writes nothing and gets the ids of the first.
	receipt, err := queue.EmitT(ctx, nexus.SQL(tx), queue.Emitter{Namespace: shop}, orderPlaced, order{ID: 7}, &queue.EmitOptions{DedupeKey: "order-7"})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Println("emitted", receipt.EventUID, "duplicate", receipt.Duplicate)
	return nil
}
