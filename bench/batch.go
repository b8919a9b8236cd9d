package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus/queue"
)

const batchSize = 1000

func (b *bench) emitBatch(ctx context.Context) (float64, error) {
	batch := make([]queue.Emission, batchSize)
	for i := range batch {
		batch[i] = queue.Emission{Type: "order.placed", Payload: json.RawMessage(payload)}
	}
	return b.batches(ctx, func() error {
		_, err := queue.Emitter{Namespace: namespace}.EmitBatch(ctx, b.pool, batch)
		return err
	})
}

func (b *bench) sendBatch(ctx context.Context) (float64, error) {
	messages := make([]string, batchSize)
	for i := range messages {
		messages[i] = payload
	}
	return b.batches(ctx, func() error {
		_, err := b.pool.Exec(ctx, "select pgmq.send_batch('raw'::text, $1::text[]::jsonb[])", messages)
		return err
	})
}

func (b *bench) batches(ctx context.Context, f func() error) (float64, error) {
	if err := b.empty(ctx); err != nil {
		return 0, err
	}
	var n atomic.Int64
	began := time.Now()
	err := parallel(2, func() error {
		for time.Since(began) < b.time {
			if err := f(); err != nil {
				return err
			}
			n.Add(batchSize)
		}
		return nil
	})
	return float64(n.Load()) / time.Since(began).Seconds(), err
}
