package nexus_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// Errors are coded. errors.Is asks for the family; the code, the argument at fault and the mend are in the error.
func ExampleError() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	_, err := queue.Emitter{Namespace: "shop"}.Emit(ctx, pool, "order.placed", nil, &queue.EmitOptions{Headers: map[string]string{"nexus-due": "now"}})
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		fmt.Println(errors.Is(err, nexus.ErrInvalid), e.Code == nexus.CodeOptionValue, e.Field)
		fmt.Println(e.Hint)
	}
	// Output:
	// true true headers.nexus-due
	// Names that begin with "nexus-" are taken; use another.
}

// Programs that use database/sql, or an ORM on top of it, hand over their transaction.
func ExampleSQL() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	db := stdlib.OpenDBFromPool(pool) // a *sql.DB
	defer db.Close()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		panic(err)
	}
	receipt, err := queue.EmitT(ctx, nexus.SQL(tx), queue.Emitter{Namespace: "shop"}, OrderPlaced, Order{ID: "7", Cents: 700}, nil)
	if err != nil {
		panic(err)
	}
	if err := tx.Commit(); err != nil { // the event is there from now on
		panic(err)
	}
	fmt.Println(receipt.Duplicate)
	// Output: false
}
