package sqlhandler_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/sqlhandler"
)

// A function of the application handles events, in the transaction that settles them.
func ExampleWork() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	_, err := pool.Exec(ctx, `
		create schema app;
		create table app.orders (id bigint);
		create function app.on_order(p_event jsonb) returns void
		language sql security definer set search_path = app, pg_temp
		as $$ insert into orders values ((p_event #>> '{payload,id}')::bigint) $$;
		revoke execute on function app.on_order(jsonb) from public;
		grant usage on schema app to nexus_guard;
		grant execute on function app.on_order(jsonb) to nexus_guard`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		panic(err)
	}
	fmt.Println(sqlhandler.Subscribe(ctx, pool, "shop", "order.*", "app.on_order(jsonb)", nil))
	for id := range 3 {
		if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, pool, "order.placed", map[string]int{"id": id}, nil); err != nil {
			panic(err)
		}
	}
	fmt.Println(sqlhandler.Work(ctx, pool, "shop", 0))
	// Output:
	// on_order <nil>
	// {3 0 0 0} <nil>
}
