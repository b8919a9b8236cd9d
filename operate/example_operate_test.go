package operate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/operate"
	"github.com/nexuspg/nexus/queue"
)

// What became of an event, and what its queue holds: both look, and change nothing.
func ExampleEventStatus() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	receipt, err := queue.Emitter{Namespace: "shop"}.Emit(ctx, pool, "order.placed", nil, nil)
	if err != nil {
		panic(err)
	}

	status, err := operate.EventStatus(ctx, pool, receipt.EventID, false)
	if err != nil {
		panic(err)
	}
	for _, s := range status {
		fmt.Println(s.Consumer, s.State, s.Queue)
	}
	messages, err := operate.Peek(ctx, pool, "core_events_shop", 10)
	if err != nil {
		panic(err)
	}
	for _, m := range messages {
		fmt.Println(m.ID, m.Type, m.State, m.ReadCount)
	}
	// Output:
	// default visible core_events_shop
	// 1 order.placed visible 0
}

// A purge is a verb that destroys: the queue's name is given twice, and a transaction that is rolled back makes a dry run of it.
func ExamplePurgeQueueAll() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop")
	defer done()
	for range 3 {
		if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, pool, "order.placed", nil, nil); err != nil {
			panic(err)
		}
	}
	name, err := operate.QueueName(ctx, pool, "shop")
	if err != nil {
		panic(err)
	}

	_, err = operate.PurgeQueueAll(ctx, pool, name, "core_events_mall", nil)
	e, _ := errors.AsType[*nexus.Error](err)
	fmt.Println(e.Code == nexus.CodeNotConfirmed)

	dry := errors.New("only a look")
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		would, err := operate.PurgeQueueAll(ctx, tx, name, name, nil)
		fmt.Println("would remove", would.Removed)
		return errors.Join(err, dry)
	})
	fmt.Println(errors.Is(err, dry))

	purged, err := operate.PurgeQueueAll(ctx, pool, name, name, nil)
	fmt.Println("removed", purged.Removed, err)
	// Output:
	// true
	// would remove 3
	// true
	// removed 3 <nil>
}
