package main

import (
	"context"
	"encoding/json"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/queue"
)

const batchSize = 1000

func emissions(n int) []queue.Emission {
	batch := make([]queue.Emission, n)
	for i := range batch {
		batch[i] = queue.Emission{Type: "order.placed", Payload: json.RawMessage(rig.Payload)}
	}
	return batch
}

func (b *bench) emitBatch(ctx context.Context) (float64, error) {
	if err := b.empty(ctx); err != nil {
		return 0, err
	}
	return b.emitBatches(ctx, namespace)
}

func (b *bench) emitBatches(ctx context.Context, ns nexus.Namespace) (float64, error) {
	batch := emissions(batchSize)
	return b.Repeat(2, batchSize, func() error {
		_, err := queue.Emitter{Namespace: ns}.EmitBatch(ctx, b.Pool, batch)
		return err
	})
}

func (b *bench) sendBatch(ctx context.Context) (float64, error) {
	if err := b.empty(ctx); err != nil {
		return 0, err
	}
	messages := make([]string, batchSize)
	for i := range messages {
		messages[i] = rig.Payload
	}
	return b.Repeat(2, batchSize, func() error {
		_, err := b.Pool.Exec(ctx, "select pgmq.send_batch('raw'::text, $1::text[]::jsonb[])", messages)
		return err
	})
}
