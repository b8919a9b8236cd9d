package batch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// maxGuards is how many savepoints a transaction may take. Each is a subtransaction, and beyond 64 of them every look at
// whether a row is visible becomes dearer for everybody.
const maxGuards = 60

// shared is one transaction that several items share, express or under leases.
type shared struct {
	b       *Batches
	t       *batch
	tx      engine.SharedTx
	ctx     context.Context // of the handlers, all told
	guards  int             // savepoints left
	express bool
	chunk   int
	cut     int // of the part that runs: how many items were handled, if not all; 0: all

	begun  []*entry
	good   []*entry
	bad    []work.Result
	failed []*entry   // those of bad
	done   []*entry   // good and failed, once they are settled
	left   []*entry   // not begun: the transaction has had its savepoints or its time, or its session is not as it was
	undid  invoke.End // why a call was undone last
}

// part is what runs behind one savepoint. handlers is nil for On, where each item has its own.
type part struct {
	handlers []*handlers.Handler
	items    []*entry
}

// parts cuts a batch into what runs behind one savepoint at first.
func (r *shared) parts(items []*entry) []part {
	var parts []part
	if r.b.Handlers.List()[0].Batch == nil {
		for c := range slices.Chunk(items, max(r.chunk, (len(items)+maxGuards/2-1)/(maxGuards/2))) {
			parts = append(parts, part{items: c})
		}
		return parts
	}
	for _, m := range items {
		of := r.b.Handlers.Route(work.KindOf(m.Delivery())).Handlers
		i := slices.IndexFunc(parts, func(p part) bool { return slices.Equal(p.handlers, of) })
		if i < 0 {
			i = len(parts)
			parts = append(parts, part{handlers: of})
		}
		parts[i].items = append(parts[i].items, m)
	}
	var calls []part
	for _, p := range parts {
		for c := range slices.Chunk(p.items, r.b.size) {
			calls = append(calls, part{p.handlers, c})
		}
	}
	return calls
}

// handle runs the handlers of items. What failed alone is among r.bad, and its effects are undone.
func (r *shared) handle(items []*entry) *halt {
	items = r.known(items)
	for _, m := range items {
		m.begun = false
	}
	todo := r.parts(items)
	slices.Reverse(todo)
	for first := true; len(todo) > 0; first = false {
		if r.guards <= 0 || !first && (r.ctx.Err() != nil || r.tx.Lasting()) {
			if len(r.good)+len(r.bad) == 0 {
				// Who gets them next would come no further either.
				return r.stopped()
			}
			for _, p := range slices.Backward(todo) {
				r.left = append(r.left, p.items...)
			}
			return nil
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		again, good, h := r.try(p)
		if h != nil {
			return h
		}
		if good {
			done := p.items
			if r.cut > 0 {
				done, todo = p.items[:r.cut], append(todo, part{items: p.items[r.cut:]})
				r.cut = 0
			}
			r.good = append(r.good, done...)
			if len(todo) > 0 || r.tx.Changed() {
				h = r.guard(r.tx.Keep)
			}
		} else {
			h = r.guard(r.tx.Undo)
			slices.Reverse(again)
			todo = append(todo, again...)
		}
		if h != nil {
			return h
		}
	}
	return nil
}

// stopped is the halt of a transaction that can go no further and has nothing to commit.
func (r *shared) stopped() *halt {
	if h := r.ours(r.undid); h != nil {
		return h
	}
	return &halt{kind: haltFailed, reason: work.ReasonError, end: r.undid}
}

// begin notes whose handlers have been called in this transaction.
func (r *shared) begin(items []*entry) {
	for _, m := range items {
		if !m.begun {
			m.begun = true
			r.begun = append(r.begun, m)
		}
	}
}

// rest is what no handler was called for.
func (r *shared) rest(items []*entry) (rest []*entry) {
	for _, m := range items {
		if !m.begun {
			rest = append(rest, m)
		}
	}
	return rest
}

// known takes out what no handler wants. Only a difference between the two matchers leads there; it must not become a busy loop.
func (r *shared) known(items []*entry) []*entry {
	return slices.DeleteFunc(slices.Clone(items), func(m *entry) bool {
		if r.b.Handlers.Route(work.KindOf(m.Delivery())) != nil {
			return false
		}
		r.give(m, work.Result{Action: work.Release, After: time.Minute, Reason: "no handler"})
		return true
	})
}

// guard moves the savepoint behind what went well, or goes back to it.
func (r *shared) guard(move func(context.Context) error) *halt {
	r.guards--
	if err := move(r.b.Context()); err != nil {
		return r.broke(invoke.End{Err: err})
	}
	return nil
}

// commit settles what came out and commits.
func (r *shared) commit() *halt {
	if r.tx.Ended() {
		return &halt{kind: haltEnded, end: invoke.End{Err: invoke.ErrEnded}}
	}
	if err := r.tx.Fault(); err != nil {
		return r.broke(invoke.End{Err: err})
	}
	results := make([]work.Result, 0, len(r.good)+len(r.bad))
	for _, m := range r.good {
		results = append(results, work.Result{Item: m.Item})
	}
	results = append(results, r.bad...)
	outcomes, err := r.tx.Commit(r.b.Context(), results)
	switch {
	case err == nil:
		for i, m := range r.failed {
			r.b.SayFailed(m.Delivery(), r.bad[i])
		}
		r.b.SaySettled(results, outcomes)
		r.t.settled += len(results)
		r.done = append(r.good, r.failed...)
		return nil
	case errors.Is(err, invoke.ErrEnded):
		return &halt{kind: haltEnded, end: invoke.End{Err: err}}
	case engine.IsLost(err):
		return &halt{kind: haltFence, end: invoke.End{Err: err}}
	case r.express && time.Since(r.t.began) >= r.b.limit:
		return &halt{kind: haltLimit, end: invoke.End{Err: err}}
	case r.tx.Broken(err):
		return &halt{kind: haltLost, end: invoke.End{Err: err}}
	}
	if len(r.bad) > 0 && errors.Is(err, nexus.ErrInvalid) {
		if len(results) == 1 { // else it is not known yet whose
			r.b.SayRefused(r.bad[0].Item.Delivery(), err)
		}
		return &halt{kind: haltFailed, reason: work.ReasonError, end: invoke.End{Err: &engine.Refusal{Err: err, Text: r.bad[0].Error}}}
	}
	return &halt{kind: haltFailed, reason: work.ReasonCommit, end: invoke.End{Err: err}}
}
