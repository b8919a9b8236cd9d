// Command 13_outbox books the movements of two accounts in their order. With the argument book it only handles what is there.
//
// The queue and the table are setup: an administrator makes them once, and the program runs as a login in the roles nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_bank')" -c "select core.outbox_register_queue('example_bank', 'moves', 4, '{\"exhausted\": \"halt\", \"retry\": {\"max_attempts\": 1}}')" \
//	  -c "create table public.example_balance (account text primary key, cents bigint not null check (cents >= 0))" -c "grant select, insert, update on public.example_balance to public"
//	go run ./examples/13_outbox "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

const bank = nexus.Namespace("example_bank")

func main() {
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0), flag.Arg(1) != "book"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, pay bool) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if pay {
		if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return enqueue(ctx, tx) }); err != nil {
			return err
		}
	}
	n := node.New(pool, node.Config{Namespace: bank})
	n.Add(outbox.Handle("moves", book))
	handled, err := n.Work(ctx, 100) // a service calls n.Run
	if err != nil {
		return err
	}
	fmt.Println("handled", handled)
	return show(ctx, pool)
}

// enqueue is in the transaction of what is paid, so that a payment and its movement are both there or neither is. The key picks the lane.
func enqueue(ctx context.Context, tx pgx.Tx) error {
	for _, m := range []struct {
		account string
		cents   int
	}{{"anna", 500}, {"bert", 100}, {"anna", -450}, {"anna", 200}, {"bert", -40}} {
		_, err := outbox.Enqueue(ctx, tx, bank, outbox.Message{
			Queue: "moves", Key: m.account, Type: "text/plain", Body: strconv.AppendInt(nil, int64(m.cents), 10),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// book changes a balance in the transaction in which the lane goes on.
func book(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
	cents, err := strconv.Atoi(string(m.Body))
	if err != nil {
		return fmt.Errorf("cents: %w", err)
	}
	_, err = tx.Exec(ctx, `insert into public.example_balance as b (account, cents) values ($1, 0) on conflict do nothing`, m.Key)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update public.example_balance set cents = cents + $2 where account = $1`, m.Key, cents)
	return err
}

func show(ctx context.Context, pool *pgxpool.Pool) error {
	rows, err := pool.Query(ctx, "select account, cents from public.example_balance order by account")
	if err != nil {
		return err
	}
	var account string
	var cents int64
	_, err = pgx.ForEachRow(rows, []any{&account, &cents}, func() error {
		fmt.Println(account, cents)
		return nil
	})
	return err
}
