package observe

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// Together tells several observers, nil for none. Contexts pass through them in order.
func Together(all ...work.Observer) work.Observer {
	var some together
	for _, o := range all {
		if o != nil {
			some = append(some, o)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	return some
}

type together []work.Observer

func (t together) Claimed(items []work.Item, buried int) {
	for _, o := range t {
		o.Claimed(items, buried)
	}
}

func (t together) HeldBack(by work.Hold) {
	for _, o := range t {
		o.HeldBack(by)
	}
}

func (t together) Handling(ctx context.Context, batch []*nexus.Delivery) (context.Context, func([]work.Observed, time.Duration)) {
	ends := make([]func([]work.Observed, time.Duration), len(t))
	for i, o := range t {
		ctx, ends[i] = o.Handling(ctx, batch)
	}
	return ctx, func(results []work.Observed, took time.Duration) {
		for _, end := range ends {
			end(results, took)
		}
	}
}

func (t together) Settled(results []work.Result, outcomes []work.Outcome) {
	for _, o := range t {
		o.Settled(results, outcomes)
	}
}

func (t together) LeaseLost(d *nexus.Delivery) {
	for _, o := range t {
		o.LeaseLost(d)
	}
}
