package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// lanes is as many as a program has that wants as much of order as of speed.
const lanes = 8

// endToEnd calls put on four goroutines until the time is over, each time for n messages, and is how many of them a second are done to the last.
func endToEnd(r *rig.Rig, n int, done *atomic.Int64, put func() error) (float64, error) {
	var all atomic.Int64
	began := time.Now()
	_, err := r.Repeat(4, n, func() error {
		err := put()
		if err == nil {
			all.Add(int64(n))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for done.Load() < all.Load() {
		time.Sleep(time.Millisecond)
	}
	return float64(all.Load()) / time.Since(began).Seconds(), nil
}

// outboxEndToEnd is how many messages a second go through an outbox queue while others are put into it, to the last of them.
func outboxEndToEnd(r *rig.Rig, n int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		name := fmt.Sprintf("moves%d", time.Now().UnixNano()) // nothing is left in it from another round
		if _, err := outbox.RegisterQueue(ctx, r.Owner, namespace, name, lanes, &outbox.QueueOptions{Profile: outbox.HighThroughput}); err != nil {
			return 0, err
		}
		// The first tick makes the partitions, for which all wait.
		if err := r.Exec(ctx, "select core.tick()", "checkpoint"); err != nil {
			return 0, err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var done atomic.Int64
		nd := node.New(r.Pool, node.Config{Namespace: namespace, Logger: quiet()})
		nd.Add(outbox.HandleLeased(name, func(context.Context, *outbox.Item) error { done.Add(1); return nil }))
		ended := make(chan error, 1)
		go func() { ended <- nd.Run(ctx) }()
		for nd.Ready() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		batch := make([]outbox.Message, n)
		for i := range batch {
			batch[i] = outbox.Message{Queue: name, Key: fmt.Sprintf("customer-%d", i), Type: "application/json", Body: []byte(rig.Payload)}
		}
		rate, err := endToEnd(r, n, &done, func() error {
			_, err := outbox.EnqueueBatch(ctx, r.Pool, namespace, batch)
			return err
		})
		stop()
		if ran := <-ended; err == nil {
			err = ran
		}
		return rate, err
	}
}
