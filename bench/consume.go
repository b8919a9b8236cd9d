package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// fill puts b.events envelopes on both queues.
func (b *bench) fill(ctx context.Context) error {
	if err := b.empty(ctx); err != nil {
		return err
	}
	for left := b.events; left > 0; left -= 10_000 {
		if _, err := (queue.Emitter{Namespace: namespace}).EmitBatch(ctx, b.Owner, emissions(min(left, 10_000))); err != nil {
			return err
		}
	}
	return b.Exec(ctx,
		"insert into pgmq.q_raw (vt, message) select vt, message from pgmq.q_core_events_bench order by msg_id",
		"vacuum analyze pgmq.q_raw", "vacuum analyze pgmq.q_core_events_bench", "checkpoint")
}

// leased runs a node whose handler does nothing.
func (b *bench) leased(ctx context.Context) (float64, error) {
	return b.handled(ctx, func(nd *node.Node, count func(int)) {
		nd.OnLeased("order.placed", func(context.Context, *nexus.Delivery) error {
			count(1)
			return nil
		})
	})
}

// mixed runs a node whose handler lets seven of ten events pass, and has one retried, one rejected and one released.
func (b *bench) mixed(ctx context.Context) (float64, error) {
	return b.handled(ctx, func(nd *node.Node, count func(int)) {
		nd.OnLeased("order.placed", func(_ context.Context, d *nexus.Delivery) error {
			count(1)
			return [10]error{nexus.Retry(time.Hour), nexus.Reject("no such order"), nexus.Release(time.Hour)}[d.ID%10]
		})
	})
}

// handled runs a node whose handlers, which register registers, count what they get.
func (b *bench) handled(ctx context.Context, register func(nd *node.Node, count func(int))) (float64, error) {
	if err := b.fill(ctx); err != nil {
		return 0, err
	}
	return b.timed(ctx, namespace, int64(b.events), register)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (b *bench) onBatch(ctx context.Context) (float64, error) {
	return b.handled(ctx, func(nd *node.Node, count func(int)) {
		nd.OnBatch("order.placed", func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
			count(len(batch))
			return nil
		})
	})
}

func (b *bench) on(express bool) rig.Way {
	return func(ctx context.Context) (float64, error) {
		return b.handled(ctx, func(nd *node.Node, count func(int)) {
			nd.On("order.placed", func(context.Context, pgx.Tx, *nexus.Delivery) error {
				count(1)
				return nil
			}).Express = express
		})
	}
}

// decode reads a message as a program on pgmq alone does.
func decode(raw []byte) error {
	var message struct {
		EventType string
		Payload   json.RawMessage
	}
	return json.Unmarshal(raw, &message)
}

// rawPop is the fastest that pgmq has: messages are gone before they are handled.
func (b *bench) rawPop(ctx context.Context) (float64, error) {
	if err := b.fill(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	err := b.OnConns(ctx, 2, func(conn *pgxpool.Conn) error {
		for {
			rows, err := conn.Query(ctx, "select message from pgmq.pop('raw'::text, 50)")
			if err != nil {
				return err
			}
			n := 0
			for rows.Next() {
				var raw []byte
				if err := rows.Scan(&raw); err != nil {
					return err
				}
				if err := decode(raw); err != nil {
					return err
				}
				n++
			}
			if err := rows.Err(); err != nil || n == 0 {
				return err
			}
		}
	})
	return float64(b.events) / time.Since(began).Seconds(), err
}

// rawConsume is what a program does on pgmq alone: read 50, decode them, delete them.
func (b *bench) rawConsume(ctx context.Context, conns int) (float64, error) {
	if err := b.fill(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	err := b.OnConns(ctx, conns, func(conn *pgxpool.Conn) error {
		for {
			rows, err := conn.Query(ctx, "select msg_id, read_ct, message from pgmq.read('raw'::text, 30, 50)")
			if err != nil {
				return err
			}
			var ids []int64
			for rows.Next() {
				var id int64
				var ct int
				var raw []byte
				if err := rows.Scan(&id, &ct, &raw); err != nil {
					return err
				}
				if err := decode(raw); err != nil {
					return err
				}
				ids = append(ids, id)
			}
			if err := rows.Err(); err != nil || len(ids) == 0 {
				return err
			}
			if _, err := conn.Exec(ctx, "select pgmq.delete('raw'::text, $1::bigint[])", ids); err != nil {
				return err
			}
		}
	})
	return float64(b.events) / time.Since(began).Seconds(), err
}
