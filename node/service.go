package node

import (
	"context"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/svc"
)

// Service is what a node runs beside its handlers, such as a schedule.Declared. Only packages of Nexus make them.
type Service interface {
	// Serve works until ctx ends, when the node begins to drain, or until there is no more to do. It takes up nothing then, and has the grace time
	// of the node to finish what it runs, whose context is rt.Handling; after that the node waits no longer. An error ends the node, unless the
	// database is away or cannot do it just now: then Serve is called again.
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

// exitMargin is how long after the end of the grace time the node still waits for services.
const exitMargin = time.Second

// serving are the services of a node that runs.
type serving struct {
	all    []Service
	done   []chan struct{} // closed when it has returned
	cancel context.CancelCauseFunc
}

// serve starts the services; they end with drained, and the first that fails ends the node.
func (r *run) serve(drained context.Context, end context.CancelCauseFunc, services []Service) *serving {
	handling, cancel := context.WithCancelCause(r.values)
	s := &serving{all: services, cancel: cancel}
	rt := r.runtime(handling)
	for _, one := range services {
		done := make(chan struct{})
		s.done = append(s.done, done)
		go func() {
			defer close(done)
			err := r.patiently(drained, func(ctx context.Context) error { return one.Serve(ctx, rt) })
			if err != nil && drained.Err() == nil {
				end(err)
			}
		}()
	}
	return s
}

// stop waits for the services until grace ends, ends what they run, and shortly after that gives them up. It returns the names of those that stayed.
func (s *serving) stop(grace context.Context) (stayed []string) {
	s.wait(grace)
	s.cancel(nexus.ErrDraining)
	last, cancel := context.WithTimeout(context.Background(), exitMargin)
	defer cancel()
	for _, i := range s.wait(last) {
		stayed = append(stayed, fmt.Sprintf("%T", s.all[i]))
	}
	return stayed
}

// wait waits for all services until ctx ends and returns those that are still there.
func (s *serving) wait(ctx context.Context) (left []int) {
	for i, done := range s.done {
		select {
		case <-done:
		case <-ctx.Done():
			select {
			case <-done:
			default:
				left = append(left, i)
			}
		}
	}
	return left
}

func (r *run) runtime(handling context.Context) *svc.Runtime {
	return &svc.Runtime{Namespace: r.Namespace, NodeID: r.member.ID(), Own: r.own, Handlers: r.pool, Logger: r.Logger, Handling: handling}
}

// declare has each service declare what it declares, once in the life of the node.
func (r *run) declare(ctx context.Context, n *Node) error {
	n.mu.Lock()
	services := n.services[n.declared:]
	n.mu.Unlock()
	for _, s := range services {
		if err := s.Declare(ctx, r.runtime(ctx)); err != nil {
			return err
		}
		n.mu.Lock()
		n.declared++
		n.mu.Unlock()
	}
	return nil
}
