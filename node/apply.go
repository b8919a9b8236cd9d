package node

import (
	"context"
	"errors"
	"sync"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// Remove takes the handler away: of a node that runs with the next [Node.Apply], else at once. It may be called often, and from the handler itself.
func (h *Handler) Remove() {
	h.node.mu.Lock()
	for _, c := range h.node.consumers {
		c.remove(h)
	}
	h.node.broadcasts.remove(h)
	h.node.mu.Unlock()
	h.calls.remove()
}

// Done is closed once a handler that was removed is called no more: [Node.Apply] or the end of Run has taken it away, and its last call has
// returned. Until then what it uses must stay.
func (h *Handler) Done() <-chan struct{} { return h.calls.done }

// Apply makes a node that runs handle what is registered now: what On and its kin have added since Run or the last Apply, without what [Handler.Remove]
// has taken away. All of it changes at once, so a type may go from one mode to another. After that the services begin that [Node.Add] was given
// meanwhile; what they declare is declared when Apply returns.
//
// When it returns nil, the database and other nodes know what this one handles. Events that waited or were parked for want of it are coming, and what is
// emitted from then on goes to these handlers alone. What the node had in hand goes on under the handlers that it was claimed for, as long as it takes,
// and is settled as ever; [Handler.Done] tells when a handler is called no more. Events of a type that no node handles any more stay where they are,
// and are parked and given up as all that nobody handles.
//
// It waits for a database that is away until ctx ends. After an error the node goes on with the handlers that it had, and the registrations stay for the
// next Apply. Errors are [nexus.ErrInvalid] of a registration, as from Run, what a service cannot declare, and what the database says; [nexus.ErrDraining] of a node that ends, and
// [ErrNotRunning] of one that has. How many workers there are was decided when the node began to run. A node that has not been started only judges
// what is registered, since Run takes it.
func (n *Node) Apply(ctx context.Context) error {
	n.mu.Lock()
	if !n.ran {
		defer n.mu.Unlock()
		_, err := n.plan()
		return err
	}
	n.mu.Unlock()
	select {
	case <-n.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-n.ended:
		return ErrNotRunning
	default:
	}
	n.mu.Lock()
	r := n.run
	n.mu.Unlock()
	if r == nil {
		return ErrNotRunning // it could not begin, which Run says
	}
	return r.apply(ctx, n)
}

func (r *run) apply(ctx context.Context, n *Node) error {
	if err := r.handle(ctx, n); err != nil {
		return err
	}
	return r.beginAdded(ctx, n)
}

// handle changes the handlers, one call after the other.
func (r *run) handle(ctx context.Context, n *Node) error {
	select {
	case r.applying <- struct{}{}:
		defer func() { <-r.applying }()
	case <-ctx.Done():
		return ctx.Err()
	}
	next, err := n.replan(r.now.Load())
	if err != nil || next.same(r.now.Load()) {
		return err
	}
	if len(next.consumers) != len(r.hosted) {
		return invalid("Subscribe", "a consumer was declared while the node runs", "call Subscribe before Run; its handlers may change later")
	}
	// The database first: what fails there changes nothing here.
	if err := r.tell(ctx, next); err != nil {
		return err
	}
	if !r.change(ctx, next) {
		return nexus.ErrDraining
	}
	types, _ := next.types()
	r.Logger.Info("handlers have changed", "node", r.member.ID(), "event_types", types)
	return nil
}

// change lets what runs the handlers follow the plan; false if the node ends. It waits for claims under way, or until ctx ends: what is emitted after
// that goes to the new ones alone.
func (r *run) change(ctx context.Context, next *plan) bool {
	var came []runner
	var begin []*part
	went := map[runner]func(context.Context){}
	for i, c := range next.consumers {
		of := r.hosted[i]
		begun, ended := of.change(c, next.made)
		for _, p := range begun {
			came, begin = append(came, p), append(begin, p)
		}
		for _, p := range ended {
			of.lookout.leave(p.number)
			went[p] = p.retire
		}
	}
	if !r.runners.swap(came, went) {
		for _, p := range begin {
			p.forget()
		}
		return false
	}
	for _, p := range begin {
		p.Start()
	}
	var quitting sync.WaitGroup
	for p := range went {
		quitting.Go(func() { p.(*part).Quit(ctx) })
	}
	quitting.Wait()
	return true
}

// abilities are what a node with these handlers and its services can do.
func (r *run) abilities(p *plan) (can work.Abilities) {
	can.Types, can.Consumers = p.types()
	r.serving.Lock()
	defer r.serving.Unlock()
	for _, s := range r.services {
		s.mu.Lock()
		can.Types, can.Consumers = append(can.Types, s.can.Types...), append(can.Consumers, s.can.Consumers...)
		can.Workflows, can.Queues = append(can.Workflows, s.can.Workflows...), append(can.Queues, s.can.Queues...)
		s.mu.Unlock()
	}
	return can
}

// tell says to the database what the node can do from now on. If it is not known what the database has understood, the heartbeat says what holds.
func (r *run) tell(ctx context.Context, p *plan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.drained, func() { cancel(nexus.ErrDraining) })()
	err := r.patiently(ctx, func(ctx context.Context) error { return r.tellOnce(ctx, p) })
	if err != nil && !errors.Is(err, nexus.ErrInvalid) {
		r.untold.Store(true)
		wakeUp(r.nudged)
	}
	if err != nil && errors.Is(context.Cause(ctx), nexus.ErrDraining) {
		return nexus.ErrDraining
	}
	return err
}

// tellOnce says what the node can do with the handlers of a plan; nil is that of those it has.
func (r *run) tellOnce(ctx context.Context, p *plan) error {
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.gone {
		return nexus.ErrDraining
	}
	if p == nil {
		if p = r.now.Load(); !r.untold.Load() { // somebody has told it since
			return nil
		}
	}
	known, err := r.member.Replace(ctx, r.abilities(p))
	if err == nil && !known {
		err = r.register(ctx, p)
	}
	if err == nil {
		r.now.Store(p)
		r.untold.Store(false)
		r.registered.Store(true)
		wakeUp(r.delayedDue)
	}
	return err
}
