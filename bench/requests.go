package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// lonely is how many are measured in a round, one after the other, each after a rest that lets the node fall asleep.
const (
	lonely = 100
	rest   = 80 * time.Millisecond
)

// requests is one in the median time from a request to its reply, of one caller: how many would fit into a second.
func (b *bench) requests(ctx context.Context) (float64, error) {
	n := node.New(b.Pool, node.Config{Namespace: namespace, Logger: quiet()})
	node.OnRequest(n, "echo", func(_ context.Context, d *nexus.DeliveryOf[any]) (any, error) { return d.Payload, nil })
	return b.lonely(ctx, "request to reply", n, func() error {
		_, err := queue.Request[any](ctx, b.Pool, queue.Emitter{Namespace: namespace}, nexus.EventType[map[string]int]("echo"), map[string]int{"n": 7})
		return err
	})
}

// pickups is the same of an event, from before the emit until its handler begins.
func (b *bench) pickups(ctx context.Context) (float64, error) {
	begun := make(chan struct{})
	n := node.New(b.Pool, node.Config{Namespace: namespace, Logger: quiet()})
	n.OnLeased("order.placed", func(context.Context, *nexus.Delivery) error {
		begun <- struct{}{}
		return nil
	})
	return b.lonely(ctx, "emit to pickup", n, func() error {
		_, err := queue.Emitter{Namespace: namespace}.Emit(ctx, b.Pool, "order.placed", map[string]int{"n": 7}, nil)
		<-begun
		return err
	})
}

// lonely prints the median and what 99 of 100 stay below, and returns how many medians fit into a second.
func (b *bench) lonely(ctx context.Context, what string, n *node.Node, one func() error) (float64, error) {
	if err := b.empty(ctx); err != nil {
		return 0, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()
	for n.Ready() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	var all []time.Duration
	for range lonely {
		time.Sleep(rest)
		began := time.Now()
		if err := one(); err != nil {
			stop()
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	stop()
	slices.Sort(all)
	const unit = 10 * time.Microsecond
	fmt.Printf("%-64s p50 %v  p99 %v\n", "  "+what, all[len(all)/2].Round(unit), all[len(all)*99/100].Round(unit))
	return 1 / all[len(all)/2].Seconds(), <-ended
}
