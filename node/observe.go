package node

import (
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/observe"
	"github.com/nexuspg/nexus/internal/work"
)

// observer watches the loop of a consumer that runs these handlers, if anybody wants to know.
func (r *run) observer(consumer string, hs *handlers.Handlers) work.Observer {
	pattern := hs.PatternOf
	var metrics work.Observer
	if r.metrics != nil {
		metrics = r.metrics.Observer(r.Namespace, consumer, hs.Patterns(), pattern)
	}
	var spans work.Observer
	if r.Tracer != nil {
		spans = observe.Spans(r.Tracer, r.Namespace, consumer, pattern)
	}
	var hook work.Observer
	if r.teller != nil {
		hook = r.teller
	}
	return observe.Together(metrics, spans, hook)
}

// measure adds what is asked of this node at each scrape.
func (r *run) measure(n *Node, state *running) (end func()) {
	if r.metrics == nil {
		return func() {}
	}
	return r.metrics.Add(observe.Node{
		Namespace: string(r.Namespace),
		Heartbeat: r.member.LastHeartbeat,
		Fetch:     state.runners.lastFetch,
		Ready:     func() bool { return n.Ready() == nil },
		Stuck:     state.runners.stuck,
		Sample:    r.member.Sample,
	})
}
