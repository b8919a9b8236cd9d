// Command 3_databasesql emits inside a transaction of database/sql, as a program does that has no pgx pool of its own.
//
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

const shop = nexus.Namespace("example_sql")

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
	if err := queue.CreateNamespace(ctx, nexus.SQL(db), shop, nil); err != nil {
		return err
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	// A second run with this key writes nothing and gets the ids of the first.
	receipt, err := queue.Emitter{Namespace: shop}.Emit(ctx, nexus.SQL(tx), "order.placed", map[string]int{"id": 7},
		&queue.EmitOptions{DedupeKey: "order-7"})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Println("emitted", receipt.EventUID, "duplicate", receipt.Duplicate)
	return nil
}
