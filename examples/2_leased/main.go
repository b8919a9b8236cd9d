// Command 2_leased handles work that is slow or happens elsewhere without holding a transaction open. It runs until Ctrl-C, and
// then drains.
//
// The namespace is setup: an administrator makes it once, as migrations are run, and the program runs as a login in the roles
// nexus_producer and nexus_consumer.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_mail')"
//	go run ./examples/2_leased "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type message struct{ To string }

const (
	mail                                   = nexus.Namespace("example_mail")
	mailRequested nexus.EventType[message] = "mail.requested"
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Arg(0)); err != nil {
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
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: mail}, mailRequested, message{To: "ann"}, nil); err != nil {
		return err
	}

	n := node.New(pool, node.Config{Namespace: mail, Lease: 10 * time.Second, Grace: 20 * time.Second})
	node.OnLeasedT(n, mailRequested, func(ctx context.Context, d *nexus.DeliveryOf[message]) error {
		if err := send(ctx, d.Payload.To, d.IdempotencyKey()); err != nil {
			return err // tried again by policy; nexus.Retry, nexus.Reject and nexus.Release say otherwise
		}
		// A record of what was sent would be written here, with the same tx: it and the end of the delivery commit together.
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return queue.Ack(ctx, tx, d.Delivery) })
	})
	return n.Run(ctx)
}

// send stands for a call to a service outside. It may be made again after a crash, so it carries a key that stays the same.
func send(ctx context.Context, to, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Println("sent to", to, "with key", key)
	return nil
}
