package demo

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/nexuspg/nexus/queue"
)

// poison are the two events that no handler can take as they are.
var poison = []webhook{
	{poisonType, json.RawMessage(`{"ref": "refs/heads/main", "commits": [{"id": "c0ffee"}], "sender": {"login": "nobody"}}`)},
	{poisonType, json.RawMessage(`{"ref": "refs/heads/main", "sender": {"login": "nobody"}}`)},
}

// script is what is emitted: the webhooks again and again until there are enough, with the poison in between.
func script(list []webhook, atLeast int) []webhook {
	var all []webhook
	for len(all) < atLeast {
		all = append(all, list...)
	}
	third := len(all) / 3
	for i, p := range poison {
		at := (i + 1) * third
		all = append(all[:at], append([]webhook{p}, all[at:]...)...)
	}
	return all
}

// emitAll emits each in a transaction of its own that also writes the business row.
func emitAll(ctx context.Context, pool *pgxpool.Pool, all []webhook, emitters int) error {
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan webhook)
	g.Go(func() error {
		defer close(next)
		for _, w := range all {
			select {
			case next <- w:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	bus := queue.Emitter{Namespace: namespace, Producer: "demo"}
	for range emitters {
		g.Go(func() error {
			for w := range next {
				err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					r, err := bus.Emit(ctx, tx, w.Type, w.Payload, nil)
					if err != nil {
						return err
					}
					_, err = tx.Exec(ctx, `insert into demo.received (event_uid, event_type) values ($1, $2)`, r.EventUID, w.Type)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
