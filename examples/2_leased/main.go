// Command 2_leased handles work that is slow or happens elsewhere without holding a transaction open. It runs until Ctrl-C, and
// then drains.
//
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

const mail = nexus.Namespace("example_mail")

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
	if err := queue.CreateNamespace(ctx, pool, mail, nil); err != nil {
		return err
	}
	if _, err := (queue.Emitter{Namespace: mail}).Emit(ctx, pool, "mail.requested", map[string]string{"to": "ann"}, nil); err != nil {
		return err
	}

	n := node.New(pool, node.Config{Namespace: mail, Lease: 10 * time.Second, Grace: 20 * time.Second})
	n.OnLeased("mail.*", func(ctx context.Context, d *nexus.Delivery) error {
		if err := send(ctx, d.IdempotencyKey()); err != nil {
			return err // tried again by policy; nexus.Retry, nexus.Reject and nexus.Release say otherwise
		}
		// A record of what was sent would be written here, with the same tx: it and the end of the delivery commit together.
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return queue.Ack(ctx, tx, d) })
	})
	return n.Run(ctx)
}

// send stands for a call to a service outside. It may be made again after a crash, so it carries a key that stays the same.
func send(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Println("sent with key", key)
	return nil
}
