package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
)

// lanes is as many as a program has that wants as much of order as of speed.
const lanes = 8

// moves are messages of an outbox queue, of as many keys.
func moves(name string, n int) []outbox.Message {
	all := make([]outbox.Message, n)
	for i := range all {
		all[i] = outbox.Message{Queue: name, Key: fmt.Sprintf("customer-%d", i), Type: "application/json", Body: []byte(rig.Payload)}
	}
	return all
}

// freshQueue makes an outbox queue that nothing is left in.
func (b *bench) freshQueue(ctx context.Context) (string, error) {
	if err := b.empty(ctx); err != nil {
		return "", err
	}
	b.queues++
	name := fmt.Sprintf("moves%d", b.queues)
	if _, err := outbox.RegisterQueue(ctx, b.Owner, namespace, name, lanes, &outbox.QueueOptions{Profile: outbox.HighThroughput}); err != nil {
		return "", err
	}
	return name, b.Exec(ctx, "select core.tick()") // the first one makes the partitions, for which all wait
}

// enqueue puts batches of n into an outbox queue on four connections.
func (b *bench) enqueue(n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		name, err := b.freshQueue(ctx)
		if err != nil {
			return 0, err
		}
		batch := moves(name, n)
		return b.Repeat(4, n, func() error {
			_, err := outbox.EnqueueBatch(ctx, b.Pool, namespace, batch)
			return err
		})
	}
}

// emitBy emits batches of n on four connections.
func (b *bench) emitBy(n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := b.empty(ctx); err != nil {
			return 0, err
		}
		batch := emissions(n)
		return b.Repeat(4, n, func() error {
			_, err := queue.Emitter{Namespace: namespace}.EmitBatch(ctx, b.Pool, batch)
			return err
		})
	}
}

// behindSnapshot is how many messages went through a queue since a snapshot was taken that is still held.
const behindSnapshot = 1_000_000

// endToEnd is how many messages a second go through an outbox queue while others are put into it, to the last of them.
func (b *bench) endToEnd(n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		name, err := b.freshQueue(ctx)
		if err != nil {
			return 0, err
		}
		return b.through(ctx, name, n, 0)
	}
}

// held is the same beside a snapshot that is held.
func (b *bench) held(n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		name, err := b.freshQueue(ctx)
		if err != nil {
			return 0, err
		}
		tx, err := b.Owner.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			return 0, err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		if _, err := tx.Exec(ctx, "select count(*) from core.consumers"); err != nil {
			return 0, err
		}
		return b.through(ctx, name, n, behindSnapshot)
	}
}

// through puts messages into a queue and has them handled; first so many that do not count.
func (b *bench) through(ctx context.Context, name string, n int, before int64) (float64, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Int64
	nd := node.New(b.Pool, node.Config{Namespace: namespace, Logger: quiet()})
	nd.Add(outbox.HandleLeased(name, func(context.Context, *outbox.Item) error {
		done.Add(1)
		return nil
	}))
	failed := make(chan error, 1)
	go func() { failed <- nd.Run(ctx) }()
	for nd.Ready() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	handled := func(all int64) {
		for done.Load() < all {
			time.Sleep(time.Millisecond)
		}
	}
	var all atomic.Int64
	put := func(batch []outbox.Message) error {
		_, err := outbox.EnqueueBatch(ctx, b.Pool, namespace, batch)
		if err == nil {
			all.Add(int64(len(batch)))
		}
		return err
	}
	for large := moves(name, 10_000); all.Load() < before; {
		if err := put(large); err != nil {
			return 0, err
		}
	}
	handled(all.Load())
	batch, first, began := moves(name, n), all.Load(), time.Now()
	if _, err := b.Repeat(4, n, func() error { return put(batch) }); err != nil {
		return 0, err
	}
	handled(all.Load())
	took := time.Since(began)
	stop()
	return float64(all.Load()-first) / took.Seconds(), <-failed
}
