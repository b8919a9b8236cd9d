package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// mode is a way to handle, with a handler that leaves one row for each event, but for the first of OnLeased.
type mode struct {
	name     string
	register func(b *bench, nd *node.Node, count func(int))
}

const (
	effectTable = "public.effects"
	insertSQL   = "insert into " + effectTable + " values ($1, $2)"
)

var modes = []mode{
	{"On", func(_ *bench, nd *node.Node, count func(int)) { nd.On("order.placed", inTx(count)) }},
	{"On with Express", func(_ *bench, nd *node.Node, count func(int)) { nd.On("order.placed", inTx(count)).Express = true }},
	{"OnBatch", func(_ *bench, nd *node.Node, count func(int)) { nd.OnBatch("order.placed", copied(count)) }},
	{"OnBatch with Leased", func(_ *bench, nd *node.Node, count func(int)) {
		nd.OnBatch("order.placed", copied(count)).Leased = true
	}},
	{"OnLeased, no row", func(_ *bench, nd *node.Node, count func(int)) {
		nd.OnLeased("order.placed", func(context.Context, *nexus.Delivery) error { count(1); return nil })
	}},
	{"OnLeased with queue.Ack", func(b *bench, nd *node.Node, count func(int)) {
		nd.OnLeased("order.placed", func(ctx context.Context, d *nexus.Delivery) error {
			err := pgx.BeginFunc(ctx, b.Pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, insertSQL, d.ID, d.Type); err != nil {
					return err
				}
				return queue.Ack(ctx, tx, d)
			})
			if err == nil {
				count(1)
			}
			return err
		})
	}},
}

func inTx(count func(int)) func(context.Context, pgx.Tx, *nexus.Delivery) error {
	return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		_, err := tx.Exec(ctx, insertSQL, d.ID, d.Type)
		if err == nil {
			count(1)
		}
		return err
	}
}

func copied(count func(int)) func(context.Context, pgx.Tx, []*nexus.Delivery) error {
	return func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"public", "effects"}, []string{"event_id", "event_type"}, pgx.CopyFromSlice(len(batch), func(i int) ([]any, error) {
			return []any{batch[i].ID, batch[i].Type}, nil
		}))
		if err == nil {
			count(len(batch))
		}
		return err
	}
}

// compareModes runs one node in each mode, one after the other in each round, and relates them to On.
func (b *bench) compareModes(ctx context.Context) error {
	if _, err := b.Owner.Exec(ctx, `create table `+effectTable+` (event_id bigint, event_type text); grant insert on `+effectTable+` to bench`); err != nil {
		return err
	}
	rates := make([][]float64, len(modes))
	for range b.Rounds {
		for i, m := range modes {
			if _, err := b.Owner.Exec(ctx, "truncate "+effectTable); err != nil {
				return err
			}
			rate, err := b.handled(ctx, func(nd *node.Node, count func(int)) { m.register(b, nd, count) })
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	on := rig.Median(rates[0])
	for i, m := range modes {
		fmt.Fprintf(os.Stdout, "handle, %-30s %8.0f/s  %.1f times On\n", m.name, rig.Median(rates[i]), rig.Median(rates[i])/on)
	}
	return nil
}
