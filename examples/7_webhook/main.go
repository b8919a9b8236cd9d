// Command 7_webhook sends an event to a receiver that checks its signature, and that is busy at first. Both sides are in this process; the receiver is all
// that another service needs.
//
// The namespace is setup, and the program runs as a login in the roles nexus_producer, nexus_consumer and, since it creates the webhook, nexus_operator.
//
//	psql "$NEXUS_DATABASE_URL" -c "select core.create_namespace('example_hook')"
//	go run ./examples/7_webhook "$NEXUS_DATABASE_URL"
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

type order struct {
	Order int `json:"order"`
}

const (
	shop                               = nexus.Namespace("example_hook")
	orderPlaced nexus.EventType[order] = "order.placed"
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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()

	to := &receiver{done: map[string]bool{}, seen: func(string, string) { stop() }}
	server := httptest.NewServer(to)
	defer server.Close()

	name := fmt.Sprintf("billing-%d", time.Now().Unix())
	secret, err := webhook.Create(ctx, pool, shop, name, server.URL, []string{"order.*"}, &webhook.Options{Insecure: true})
	if err != nil {
		return err
	}
	if to.key, err = signature.ParseKey(secret); err != nil {
		return err
	}
	if _, err := queue.EmitT(ctx, pool, queue.Emitter{Namespace: shop}, orderPlaced, order{7}, nil); err != nil {
		return err
	}

	n := node.New(pool, node.Config{Namespace: shop})
	n.Add(&webhook.Sender{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}) // the receiver is on this machine
	node.OnT(n, orderPlaced, func(context.Context, pgx.Tx, *nexus.DeliveryOf[order]) error { return nil })
	if err := n.Run(ctx); err != nil {
		return err
	}
	return webhook.Drop(context.WithoutCancel(ctx), pool, shop, name, true)
}
