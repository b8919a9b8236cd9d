package node

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/observe"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
)

// Service is what a node runs beside its handlers, such as a schedule.Declared. Only packages of Nexus make them.
type Service interface {
	// Declare brings about what the service rests on. Run calls it when the node is registered, and again while the database is away or cannot do
	// it just now; any other error ends the node. Of Work it is called the first time.
	Declare(ctx context.Context, h *svc.Host) error

	// Runner makes what runs the service after that; nil: it only declares.
	Runner(h *svc.Host) svc.Runner
}

// Add gives the node services to run. They begin once the node is registered; what one of them returns comes out of Run. The first
// [Node.Work] declares what they declare, and returns what they say. What is added while the node runs begins with
// the next [Node.Apply].
func (n *Node) Add(s ...Service) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.services = append(n.services, s...)
}

// refuseService refuses a service that is nil, or does the same as one that was added before it.
func refuseService(before []Service, s Service) error {
	if isNil(s) {
		return invalid("Add", fmt.Sprintf("the node was given a service that is nil, a %T", s), "add it once it is made")
	}
	one, ok := s.(svc.Sole)
	if !ok {
		return nil
	}
	for _, b := range before {
		if b, ok := b.(svc.Sole); ok && !isNil(b) && b.Sole() == one.Sole() {
			return invalid("Add", "the node has two services for "+one.Sole()+", and each would get what falls to it by chance", "add one that does both")
		}
	}
	return nil
}

// isNil also knows a nil pointer, which is what a constructor that failed leaves behind.
func isNil(s any) bool {
	v := reflect.ValueOf(s)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// exitMargin is how long after the end of the grace time the node still waits for a service: until that has given up what ignores its end, and has
// said so to the database.
const exitMargin = svc.Stay + 1500*time.Millisecond

// served is a service of a node that runs: the runner of it.
type served struct {
	of      Service
	refused error // why it will not be served
	r       *run
	host    *svc.Host
	cancel  context.CancelCauseFunc // of host.Handling
	begun   chan struct{}           // closed once it runs, or never will

	mu     sync.Mutex
	runner svc.Runner // nil until it has been declared
	can    work.Abilities
}

// serve prepares to run a service. If that fails, fail is called.
func (r *run) serve(of Service, fail func(error)) *served {
	handling, cancel := context.WithCancelCause(r.values)
	s := &served{of: of, r: r, cancel: cancel, begun: make(chan struct{})}
	s.host = r.hostOf(handling)
	s.host.Can = func(ctx context.Context, can work.Abilities) error { return r.told(ctx, s, can) }
	s.host.Fail = func(err error) {
		if !errors.Is(err, nexus.ErrDraining) { // which a service is told whose announcement the drain overtakes
			fail(err)
		}
	}
	return s
}

// begin declares what the service rests on, and begins to run it.
func (s *served) begin(drained context.Context) {
	err := s.declare(drained)
	if err != nil && drained.Err() == nil {
		s.host.Fail(err)
	}
	s.start(err == nil && drained.Err() == nil)
}

// declare declares what the service rests on.
func (s *served) declare(ctx context.Context) error {
	if s.refused != nil {
		return s.refused
	}
	return s.r.patiently(ctx, func(ctx context.Context) error { return s.of.Declare(ctx, s.host) })
}

// start begins to run the service, unless it never will.
func (s *served) start(will bool) {
	defer close(s.begun)
	if !will {
		return
	}
	if runner := s.of.Runner(s.host); runner != nil {
		runner.Start()
		s.mu.Lock()
		s.runner = runner
		s.mu.Unlock()
	}
}

func (s *served) running() svc.Runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runner
}

// Hears implements [runner]. So do the others.
func (s *served) Hears(key string) bool {
	one := s.running()
	return one != nil && slices.Contains(one.Keys(), key)
}

func (s *served) Wake() {
	if one := s.running(); one != nil {
		one.Wake()
	}
}

func (s *served) LastFetch() time.Time {
	if one := s.running(); one != nil {
		return one.LastFetch()
	}
	return time.Time{}
}

func (s *served) Stuck() (places int, all time.Time) {
	if one := s.running(); one != nil {
		return one.Stuck()
	}
	return 0, time.Time{}
}

// Stop waits for the service until grace ends, ends what it runs, and shortly after that gives it up.
func (s *served) Stop(grace context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-s.begun
		if one := s.running(); one != nil {
			one.Stop(grace)
		}
	}()
	defer s.cancel(nexus.ErrDraining)
	select {
	case <-ended:
		return
	case <-grace.Done():
	}
	s.cancel(nexus.ErrDraining)
	last := time.NewTimer(exitMargin)
	defer last.Stop()
	select {
	case <-ended:
	case <-last.C:
		s.r.held.Store(true)
		s.r.Logger.Error("a service did not end in time, the node ends without it", "node", s.r.member.ID(), "namespace", string(s.r.Namespace),
			"service", fmt.Sprintf("%T", s.of))
	}
}

// hostOf is what services are given. Work tells nobody what it can do, and a failure there is what it returns.
func (r *run) hostOf(handling context.Context) *svc.Host {
	return &svc.Host{
		Namespace: r.Namespace, NodeID: r.member.ID(), Own: r.own, Handlers: r.pool, Session: r.session, Logger: r.Logger,
		Places: r.places, LeasedPlaces: r.leasedPlaces, Lease: r.Lease, Poll: r.Poll, Timeout: r.Timeout, Retry: r.Retry, Middleware: r.middleware(),
		Handling: handling, Observer: r.observer, Answered: r.answered, Lanes: r.countLanes, Steps: observe.Steps(r.metrics, r.Tracer), Announce: r.member.Announce, Unavailable: r.unavailable, Patiently: r.patiently,
		Can:  func(context.Context, work.Abilities) error { return nil },
		Fail: func(error) {},
	}
}

// told notes what a service can do, and tells the database.
func (r *run) told(ctx context.Context, s *served, can work.Abilities) error {
	select {
	case r.applying <- struct{}{}:
		defer func() { <-r.applying }()
	case <-ctx.Done():
		return ctx.Err()
	}
	set := func(can work.Abilities) (before work.Abilities) {
		s.mu.Lock()
		defer s.mu.Unlock()
		before, s.can = s.can, can
		return before
	}
	before := set(can)
	err := r.tell(ctx, r.now.Load())
	if err != nil {
		set(before)
	}
	return err
}

// adopt prepares to run those services of the node that the run does not have yet, as many as there are or the next one, and notes them.
func (r *run) adopt(n *Node, most int) (came []*served) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r.serving.Lock()
	defer r.serving.Unlock()
	rest := n.services[len(r.services):]
	for i, of := range rest[:min(most, len(rest))] {
		s := r.serve(of, r.fail)
		s.refused = refuseService(n.services[:len(r.services)+i], of)
		came = append(came, s)
	}
	r.services = append(r.services, came...)
	return came
}

// beginAdded begins the services that the node was given since it runs, one call after the other. One that cannot declare what it rests on is there
// again for the next call.
func (r *run) beginAdded(ctx context.Context, n *Node) error {
	select {
	case r.adding <- struct{}{}:
		defer func() { <-r.adding }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for came := r.adopt(n, 1); len(came) > 0; came = r.adopt(n, 1) {
		if err := r.beginOne(ctx, came[0]); err != nil {
			r.serving.Lock()
			r.services = r.services[:len(r.services)-1]
			r.serving.Unlock()
			return err
		}
	}
	return nil
}

func (r *run) beginOne(ctx context.Context, s *served) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.drained, cancel)()
	err := s.declare(ctx)
	if r.drained.Err() != nil || err == nil && !r.runners.add(s) {
		err = nexus.ErrDraining
	}
	if err != nil {
		s.cancel(err)
		return err
	}
	s.start(true)
	return nil
}

// declare has each service declare what it declares, once in the life of the node.
func (r *run) declare(ctx context.Context, n *Node) error {
	n.mu.Lock()
	all, from := n.services, n.declared
	n.mu.Unlock()
	for i, s := range all[from:] {
		if err := refuseService(all[:from+i], s); err != nil {
			return err
		}
		if err := s.Declare(ctx, r.hostOf(ctx)); err != nil {
			return err
		}
		n.mu.Lock()
		n.declared++
		n.mu.Unlock()
	}
	return nil
}

// workServices has each service do inline what is due.
func (r *run) workServices(ctx context.Context, n *Node, limit int) (done int, err error) {
	n.mu.Lock()
	services := n.services[:n.declared]
	n.mu.Unlock()
	for _, s := range services {
		runner := s.Runner(r.hostOf(ctx))
		if runner == nil {
			continue
		}
		n, err := runner.Work(ctx, limit-done)
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}
