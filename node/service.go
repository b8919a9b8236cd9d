package node

import (
	"context"
	"sync"

	"github.com/nexuspg/nexus/internal/svc"
)

// Service is what a node runs beside its handlers, such as a schedule.Declared. Only packages of Nexus make them.
type Service interface {
	// Serve works until ctx ends, when the node begins to drain, or until there is no more to do. An error ends the node, unless
	// the database is away: then Serve is called again.
	Serve(ctx context.Context, rt *svc.Runtime) error
}

// Add gives the node services to run. They begin once the node is registered; what one of them returns comes out of Run.
func (n *Node) Add(s ...Service) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.services = append(n.services, s...)
}

// serve starts the services; they end with drained, and the first that fails ends the node.
func (r *run) serve(drained context.Context, helpers *sync.WaitGroup, end context.CancelCauseFunc, services []Service) {
	rt := &svc.Runtime{Namespace: r.Namespace, NodeID: r.member.ID(), Own: r.own, Handlers: r.pool, Logger: r.Logger}
	for _, s := range services {
		helpers.Go(func() {
			err := r.patiently(drained, func(ctx context.Context) error { return s.Serve(ctx, rt) })
			if err != nil && drained.Err() == nil {
				end(err)
			}
		})
	}
}
