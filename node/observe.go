package node

import (
	"github.com/nexuspg/nexus/internal/observe"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/work"
)

// observer watches what handles events of a consumer whose types fall under these patterns. pattern says under which one a type falls.
func (r *run) observer(consumer string, patterns []string, pattern func(eventType string) string) work.Observer {
	var metrics work.Observer
	if r.metrics != nil {
		metrics = r.metrics.Observer(r.Namespace, consumer, patterns, pattern)
		if consumer == pgmqueue.Requests {
			r.metrics.Requests(r.Namespace)
		}
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
func (r *run) measure(n *Node) (end func()) {
	if r.metrics == nil {
		return func() {}
	}
	return r.metrics.Add(observe.Node{
		Namespace: string(r.Namespace),
		Heartbeat: r.member.LastHeartbeat,
		Fetch:     r.runners.lastFetch,
		Ready:     func() bool { return n.Ready() == nil },
		Stuck:     r.stuck,
		Sample:    r.member.Sample,
	})
}

func (r *run) allPlaces() []*places.Places { return []*places.Places{r.places, r.leasedPlaces} }

// stuck is how many places for handlers are, also under handlers that were taken away.
func (r *run) stuck() (n int) {
	for _, p := range r.allPlaces() {
		places, _ := p.Stuck()
		n += places
	}
	return n
}

// countLanes counts what became of messages of lanes.
func (r *run) countLanes(consumer, result string, n int) {
	if r.metrics != nil {
		r.metrics.Lane(r.Namespace, consumer, result, n)
	}
}
