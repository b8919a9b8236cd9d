package node

import (
	"context"
	"sync"

	"github.com/nexuspg/nexus/internal/svc"
)

// Service is what a node runs beside its handlers, such as a schedule.Declared. Only packages of Nexus make them.
type Service interface {
	// Serve works until ctx ends, when the node begins to drain, or until there is no more to do. An error ends the node, unless
	// the database is away or cannot do it just now: then Serve is called again.
	Serve(ctx context.Context, rt *svc.Runtime) error

	// Declare does what Serve does at its beginning and once, for Work, which serves nothing.
	Declare(ctx context.Context, rt *svc.Runtime) error
}

// Add gives the node services to run. They begin once the node is registered; what one of them returns comes out of Run. The first
// [Node.Work] declares what they declare, and returns what they say.
func (n *Node) Add(s ...Service) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.services = append(n.services, s...)
}

// serve starts the services; they end with drained, and the first that fails ends the node.
func (r *run) serve(drained context.Context, helpers *sync.WaitGroup, end context.CancelCauseFunc, services []Service) {
	rt := r.runtime()
	for _, s := range services {
		helpers.Go(func() {
			err := r.patiently(drained, func(ctx context.Context) error { return s.Serve(ctx, rt) })
			if err != nil && drained.Err() == nil {
				end(err)
			}
		})
	}
}

func (r *run) runtime() *svc.Runtime {
	return &svc.Runtime{Namespace: r.Namespace, NodeID: r.member.ID(), Own: r.own, Handlers: r.pool, Logger: r.Logger}
}

// declare has each service declare what it declares, once in the life of the node.
func (r *run) declare(ctx context.Context, n *Node) error {
	n.mu.Lock()
	services := n.services[n.declared:]
	n.mu.Unlock()
	for _, s := range services {
		if err := s.Declare(ctx, r.runtime()); err != nil {
			return err
		}
		n.mu.Lock()
		n.declared++
		n.mu.Unlock()
	}
	return nil
}
