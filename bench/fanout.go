package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// fresh makes a namespace anew that has no default consumer and n named ones, of which the first m get what is emitted.
func (b *bench) fresh(ctx context.Context, n, m int) (nexus.Namespace, error) {
	ns := nexus.Namespace(fmt.Sprintf("fan%d", n))
	sql := []string{
		"select core.drop_namespace(n.namespace, n.namespace, true) from core.namespaces n where n.namespace = '" + string(ns) + "'",
		"truncate core.event_log", `select core.create_namespace('` + string(ns) + `', '{"default_consumer": "off"}')`,
	}
	for i := range n {
		pattern := "order.*"
		if i >= m {
			pattern = fmt.Sprintf("other%d.*", i)
		}
		sql = append(sql, fmt.Sprintf("select core.create_consumer('%s', 'c%d', array['%s'])", ns, i, pattern))
	}
	return ns, b.Exec(ctx, append(sql, "checkpoint")...)
}

func (b *bench) emitTo(consumers int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		ns, err := b.fresh(ctx, consumers, 1)
		if err != nil {
			return 0, err
		}
		return b.Repeat(8, 1, func() error {
			_, err := b.Pool.Exec(ctx, "select * from core.emit($1, 'order.placed', $2::text::jsonb)", ns, rig.Payload)
			return err
		})
	}
}

func (b *bench) emitBatchTo(consumers int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		ns, err := b.fresh(ctx, consumers, 1)
		if err != nil {
			return 0, err
		}
		return b.emitBatches(ctx, ns)
	}
}

// drain counts the deliveries a second that one node handles for all its consumers.
func (b *bench) drain(consumers int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		ns, err := b.fresh(ctx, consumers, consumers)
		if err != nil {
			return 0, err
		}
		each := b.events / consumers
		var vacuum []string
		for left := each; left > 0; left -= 10_000 {
			if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(ctx, b.Owner, emissions(min(left, 10_000))); err != nil {
				return 0, err
			}
		}
		for i := range consumers {
			vacuum = append(vacuum, fmt.Sprintf("vacuum analyze pgmq.q_core_events_%s__c%d", ns, i))
		}
		if err := b.Exec(ctx, append(vacuum, "checkpoint")...); err != nil {
			return 0, err
		}
		return b.timed(ctx, ns, int64(each*consumers), func(nd *node.Node, count func(int)) {
			for i := range consumers {
				nd.Subscribe(fmt.Sprintf("c%d", i), "order.*").OnLeased("order.placed", func(context.Context, *nexus.Delivery) error {
					count(1)
					return nil
				})
			}
		})
	}
}

// timed runs a node until its handlers have counted to want.
func (b *bench) timed(ctx context.Context, ns nexus.Namespace, want int64, register func(nd *node.Node, count func(int))) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var n atomic.Int64
	var took time.Duration
	began := time.Now()
	nd := node.New(b.Pool, node.Config{Namespace: ns, Logger: quiet()})
	register(nd, func(k int) {
		if n.Add(int64(k)) == want {
			took = time.Since(began)
			cancel()
		}
	})
	if err := nd.Run(ctx); err != nil {
		return 0, err
	}
	return float64(want) / took.Seconds(), nil
}
