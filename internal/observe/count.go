package observe

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/telemetry"
	"github.com/nexuspg/nexus/internal/work"
)

// counter is the observer that counts for one consumer.
type counter struct {
	m                   *Metrics
	namespace, consumer string
	pattern             func(eventType string) string
	running             prometheus.Gauge
	lag, batch          prometheus.Observer
}

// Observer counts for a consumer. patterns are those of its handlers, and pattern tells the first of them that matches an event type, ""
// if none does. All counts begin at zero, since a rate over a series that begins with its first event does not see that one.
func (m *Metrics) Observer(ns nexus.Namespace, consumer string, patterns []string, pattern func(eventType string) string) work.Observer {
	for _, v := range []*prometheus.CounterVec{m.delivered, m.retried, m.halted, m.deadLettered, m.released, m.leasesLost} {
		for _, p := range append(slices.Clone(patterns), telemetry.OtherType) {
			v.WithLabelValues(string(ns), consumer, p)
		}
	}
	for _, by := range []work.Hold{work.HeldInFlight, work.HeldRate, work.HeldLock} {
		m.heldBack.WithLabelValues(string(ns), consumer, string(by))
	}
	telemetry.Emitted(ns, 0)
	return &counter{
		m: m, namespace: string(ns), consumer: consumer, pattern: pattern,
		running: m.running.WithLabelValues(string(ns), consumer),
		lag:     m.pickupLag.WithLabelValues(string(ns), consumer),
		batch:   m.claimBatch.WithLabelValues(string(ns), consumer),
	}
}

func (c *counter) label(d *nexus.Delivery) string {
	if p := c.pattern(work.KindOf(d)); p != "" {
		return p
	}
	return telemetry.OtherType
}

func (c *counter) inc(v *prometheus.CounterVec, d *nexus.Delivery) {
	v.WithLabelValues(c.namespace, c.consumer, c.label(d)).Inc()
}

// Claimed implements [work.Observer].
func (c *counter) Claimed(items []work.Item, buried int) {
	c.batch.Observe(float64(len(items)))
	now := time.Now()
	for _, it := range items {
		if due := it.Due(); !due.IsZero() {
			c.lag.Observe(max(now.Sub(due).Seconds(), 0))
		}
	}
	if buried > 0 {
		c.m.deadLettered.WithLabelValues(c.namespace, c.consumer, telemetry.OtherType).Add(float64(buried))
	}
}

// HeldBack implements [work.Observer].
func (c *counter) HeldBack(by work.Hold) {
	c.m.heldBack.WithLabelValues(c.namespace, c.consumer, string(by)).Inc()
}

// Handling implements [work.Observer].
func (c *counter) Handling(ctx context.Context, batch []*nexus.Delivery) (context.Context, func([]work.Observed, time.Duration)) {
	c.running.Inc()
	return ctx, func(results []work.Observed, took time.Duration) {
		c.running.Dec()
		// A call is one observation, however many it had; the results of a batch are counted when they are settled.
		result := "late"
		if !results[0].Late {
			result = results[0].Action.String()
		}
		c.m.duration.WithLabelValues(c.namespace, c.consumer, c.label(batch[0]), result).Observe(took.Seconds())
	}
}

// Settled implements [work.Observer].
func (c *counter) Settled(results []work.Result, outcomes []work.Outcome) {
	others := map[work.Item]bool{}
	for _, o := range outcomes {
		others[o.Item] = true
		d := o.Item.Delivery()
		switch o.Kind {
		case work.Retried:
			c.inc(c.m.retried, d)
		case work.Halted:
			c.inc(c.m.halted, d)
		case work.Buried:
			c.inc(c.m.deadLettered, d)
		case work.Released:
			c.inc(c.m.released, d)
		case work.Gone:
			// It was settled by the handler itself, in a transaction that has committed.
			if o.Item.Acked() {
				c.inc(c.m.delivered, d)
			}
		case work.Lost:
		}
	}
	for i := range results {
		if r := &results[i]; r.Action == work.Ack && !others[r.Item] {
			c.inc(c.m.delivered, r.Item.Delivery())
		}
	}
}

// LeaseLost implements [work.Observer].
func (c *counter) LeaseLost(d *nexus.Delivery) { c.inc(c.m.leasesLost, d) }
