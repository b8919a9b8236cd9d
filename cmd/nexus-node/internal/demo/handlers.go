package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	hooks "github.com/nexuspg/nexus/webhook"
)

const (
	namespace = "github"

	flakyType  = "github.star.created"
	poisonType = "github.push"

	noPush = "a push without commits is no push" // the reason of a rejection
)

// hook is what the aggregates need of a webhook.
type hook struct {
	Commits    json.RawMessage `json:"commits"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Sender struct {
		Login string `json:"login"`
	} `json:"sender"`
}

// handler is what a node does with an event, under the node's name.
type handler func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error

// handlers are those of a node.
type handlers struct {
	webhook handler // of every webhook, whatever else some of them get
	report  handler // of what tasks and one-shots emit
	audit   handler // of every webhook, by the consumer that comes late
	parcel  handler // of what changes in the watched table
}

var honest = handlers{webhook: aggregate, report: report, audit: audit, parcel: tellOfParcel}

// Node runs one node process of the demo until ctx ends or parent, a pipe that the demo holds open, does.
func Node(ctx context.Context, parent io.Reader, databaseURL, name string, log *slog.Logger) error {
	return serve(ctx, parent, databaseURL, name, log, honest)
}

func serve(ctx context.Context, parent io.Reader, databaseURL, name string, log *slog.Logger, h handlers) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, parent) // nothing ever comes; the end does
		cancel()
	}()
	pool, err := connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	n := node.New(pool, node.Config{
		Namespace: namespace, ID: name, Logger: log,
		// The other node finds the events of the one that is killed when their leases end.
		Lease: 3 * time.Second,
		Grace: 10 * time.Second,
		Retry: nexus.RetryPolicy{MaxAttempts: 6, Base: 100 * time.Millisecond, Max: time.Second},
	})
	if name == auditor {
		subscribe(n, h.audit)
		return n.Run(ctx)
	}
	n.Add(&hooks.Sender{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}) // the receivers are on this machine
	n.Add(outbox.Handle(movesQueue, makeMove))
	n.Add(orderFlow(pool, name))
	handleParcels(n, pool, h.parcel, name)
	// In this order, so that what every webhook gets is done when the second handler fails, and has to be undone.
	n.On("github.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return h.webhook(ctx, tx, d, name) })
	n.On(flakyType, func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		if d.Attempt <= 2 {
			return fmt.Errorf("the star service is not up yet (attempt %d)", d.Attempt)
		}
		return nil
	})
	n.On("office.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return h.report(ctx, tx, d, name) })
	return n.Run(ctx)
}

// aggregate counts a webhook. The rows are hot, so every handler takes them in the same order.
func aggregate(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, name string) error {
	var h hook
	if err := d.Decode(&h); err != nil {
		return err
	}
	if err := check(ctx, tx, d.Type, h); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`insert into demo.handled (event_uid, node, attempt) values ($1, $2, $3)`, d.UID, name, d.Attempt)
	b.Queue(`insert into demo.by_type as t values ($1, 1) on conflict (event_type) do update set events = t.events + 1`, d.Type)
	b.Queue(`insert into demo.by_repository as t values ($1, 1) on conflict (repository) do update set events = t.events + 1`, or(h.Repository.FullName))
	b.Queue(`insert into demo.by_sender as t values ($1, 1) on conflict (sender) do update set events = t.events + 1`, or(h.Sender.Login))
	return tx.SendBatch(ctx, b).Close()
}

// check is the part with the bug: until it is fixed it can't take a push without a repository.
func check(ctx context.Context, tx pgx.Tx, eventType string, h hook) error {
	if eventType != poisonType || h.Repository.FullName != "" {
		return nil
	}
	var fixed bool
	if err := tx.QueryRow(ctx, `select exists (select from demo.switches where name = 'fixed')`).Scan(&fixed); err != nil {
		return err
	}
	switch {
	case len(h.Commits) == 0:
		return nexus.Reject(noPush)
	case !fixed:
		return errors.New("a push without a repository")
	}
	return nil
}

func or(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
