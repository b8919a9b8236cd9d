package node

import (
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/observe"
)

// observer watches the loop of a consumer, if anybody wants to know. pattern is that of the handlers that the loop asks as well, so that
// it knows the answer by then.
func (r *run) observer(consumer string, pattern func(eventType string) string) consume.Observer {
	var metrics consume.Observer
	if r.metrics != nil {
		metrics = r.metrics.Observer(r.Namespace, consumer, pattern)
	}
	var spans consume.Observer
	if r.Tracer != nil {
		spans = observe.Spans(r.Tracer, r.Namespace, consumer, pattern)
	}
	return observe.Together(metrics, spans)
}

// measure adds what is asked of this node at each scrape.
func (r *run) measure(n *Node, state *running) (end func()) {
	if r.metrics == nil {
		return func() {}
	}
	return r.metrics.Add(observe.Node{
		Namespace: string(r.Namespace),
		Heartbeat: r.member.LastHeartbeat,
		Fetch:     state.lastFetch,
		Ready:     func() bool { return n.Ready() == nil },
		Sample:    r.member.Sample,
	})
}
