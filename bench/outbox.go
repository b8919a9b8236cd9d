package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

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
	_, err := outbox.RegisterQueue(ctx, b.Owner, namespace, name, lanes, &outbox.QueueOptions{Profile: outbox.HighThroughput})
	return name, err
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

// endToEnd is how many messages a second go through an outbox queue while others are put into it, to the last of them.
func (b *bench) endToEnd(n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		name, err := b.freshQueue(ctx)
		if err != nil {
			return 0, err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var put, done atomic.Int64
		put.Store(-1) // not known yet
		ended := make(chan struct{})
		nd := node.New(b.Pool, node.Config{Namespace: namespace, Logger: quiet()})
		nd.Add(outbox.HandleLeased(name, func(context.Context, *outbox.Item) error {
			if done.Add(1) == put.Load() {
				close(ended)
			}
			return nil
		}))
		failed := make(chan error, 1)
		go func() { failed <- nd.Run(ctx) }()
		for nd.Ready() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		batch := moves(name, n)
		var all atomic.Int64
		began := time.Now()
		if _, err := b.Repeat(4, n, func() error {
			_, err := outbox.EnqueueBatch(ctx, b.Pool, namespace, batch)
			if err == nil {
				all.Add(int64(n))
			}
			return err
		}); err != nil {
			return 0, err
		}
		put.Store(all.Load())
		if done.Load() < all.Load() {
			<-ended
		}
		took := time.Since(began)
		stop()
		return float64(all.Load()) / took.Seconds(), <-failed
	}
}
