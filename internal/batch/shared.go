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

// haltKind says why a transaction as a whole came to nothing.
type haltKind uint8

const (
	haltFailed  haltKind = iota // by a failure that cannot be undone alone
	haltTimeout                 // of a handler
	haltLimit                   // express took too long
	haltLost                    // the connection
	haltFence                   // somebody else has an item
	haltDrained
	haltEnded // by a statement of a handler
)

func (k haltKind) String() string {
	return [...]string{"failed", "timeout", "express limit", "connection lost", nexus.ErrLeaseLost.Error(), nexus.ErrDraining.Error(), work.ReasonEnded}[k]
}

type halt struct {
	kind   haltKind
	reason string
	end    invoke.End
	blamed []*entry        // haltEnded: those whose handlers did it, or may have
	stuck  <-chan struct{} // closed when handlers that ignored the end of their context are back; nil if they were not stuck

	late, release func() // what is left to do then
}

// blame names those whose handlers ended the transaction.
func (h *halt) blame(items []*entry) {
	if h != nil && h.kind == haltEnded {
		h.blamed = items
	}
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
		of := r.b.Handlers.Route(m.Delivery().Type).Handlers
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
		if r.b.Handlers.Route(m.Delivery().Type) != nil {
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

// try runs one part. If it did not go well, again is what is to be run instead, without what failed for certain.
func (r *shared) try(p part) (again []part, good bool, h *halt) {
	if p.handlers == nil {
		return r.tryEach(p.items)
	}
	r.begin(p.items)
	timeout := patience(p.handlers)
	seen := sight{began: time.Now()}
	e, h := r.apart(func(ctx context.Context, call *invoke.Call) error {
		call.Expect(timeout)
		ctx, cancel := limited(ctx, timeout)
		defer cancel()
		ctx, seen.end = r.b.observed(ctx, p.items)
		run := func(ctx context.Context) error {
			for _, h := range p.handlers {
				if call.GivenUp() {
					return nil
				}
				if err := h.CallBatch(ctx, r.tx, handed(p.items)); err != nil {
					return err
				}
			}
			return nil
		}
		if len(r.b.Middleware) == 0 {
			return r.after(ctx, run(ctx))
		}
		return r.after(ctx, invoke.Wrapped(ctx, r.b.Middleware, handed(p.items), run))
	})
	if h != nil && h.stuck != nil {
		h.late = func() { seen.over(len(p.items), nil, false) }
		return nil, false, h
	}
	if h != nil || e.Err == nil {
		seen.over(len(p.items), e.Err, h == nil)
		h.blame(p.items)
		return nil, true, h
	}
	known := len(r.bad)
	defer func() { seen.failed(p.items, r.bad[known:], e.Err) }()
	if names := named(e.Err, p.items); len(names) > 0 && e.Stack == nil {
		var rest []*entry
		for _, m := range p.items {
			if err, ok := names[m]; ok {
				r.fail(m, invoke.End{Err: err})
			} else {
				rest = append(rest, m)
			}
		}
		if len(rest) > 0 {
			again = []part{{p.handlers, rest}}
		}
		return again, false, nil
	}
	if len(p.items) == 1 {
		r.fail(p.items[0], e)
		return nil, false, nil
	}
	r.undid = e
	half := (len(p.items) + 1) / 2
	return []part{{p.handlers, p.items[:half]}, {p.handlers, p.items[half:]}}, false, nil
}

// tryEach runs the On handlers of items one after another behind one savepoint. Which one fails is known, but the savepoint
// undoes those before it as well.
func (r *shared) tryEach(items []*entry) (again []part, good bool, h *halt) {
	at := 0
	var seen sight
	e, h := r.apart(func(ctx context.Context, call *invoke.Call) error {
		for i, m := range items {
			if call.GivenUp() {
				return nil
			}
			at = i
			route := r.b.Handlers.Route(m.Delivery().Type)
			call.Expect(route.Timeout)
			err := func() error {
				ctx, cancel := limited(ctx, route.Timeout)
				defer cancel()
				seen = sight{began: time.Now()}
				ctx, seen.end = r.b.observed(ctx, items[i:i+1])
				return r.after(ctx, route.One(ctx, r.b.Middleware, r.tx, m.Item))
			}()
			if err != nil {
				return err
			}
			seen.over(1, nil, true)
			seen = sight{}
			if r.tx.Changed() && i+1 < len(items) {
				r.cut = i + 1 // the next one gets the session as this one did
				return nil
			}
		}
		return nil
	})
	if h != nil && h.stuck != nil {
		h.late = func() { seen.over(1, nil, false) }
		return nil, false, h
	}
	r.begin(items[:at+1])
	if h != nil || e.Err == nil {
		seen.over(1, e.Err, false)
		h.blame(items[at : at+1])
		return nil, true, h
	}
	r.fail(items[at], e)
	seen.failed(items[at:at+1], r.bad[len(r.bad)-1:], e.Err)
	for _, rest := range [][]*entry{items[:at], items[at+1:]} {
		if len(rest) > 0 {
			again = append(again, part{items: rest})
		}
	}
	return again, false, nil
}

// fail notes an item that failed for certain.
func (r *shared) fail(m *entry, e invoke.End) {
	res := invoke.Judge(e, nil, 0)
	res.Policy = r.b.policy(m)
	r.give(m, res)
}

// give notes what shall become of an item that is not done.
func (r *shared) give(m *entry, res work.Result) {
	res.Item = m.Item
	r.bad = append(r.bad, res)
	r.failed = append(r.failed, m)
}

// limited gives handlers their own timeout below that of the transaction.
func limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// patience is the timeout of handlers that share a context: that of the most patient one.
func patience(of []*handlers.Handler) (timeout time.Duration) {
	for _, h := range of {
		if h.Timeout <= 0 {
			return 0
		}
		timeout = max(timeout, h.Timeout)
	}
	return timeout
}

// errLate wraps what handlers returned after their own timeout.
type errLate struct{ err error }

func (e *errLate) Error() string { return context.DeadlineExceeded.Error() }

// after judges the return of handlers: what they did to the transaction, and whether they were in time.
func (r *shared) after(ctx context.Context, err error) error {
	if err == nil {
		err = r.tx.Fault()
	}
	r.tx.Forgive()
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return &errLate{err}
	}
	return err
}

// apart runs handlers in a goroutine, which they may end or never leave, and waits for them.
func (r *shared) apart(f func(ctx context.Context, call *invoke.Call) error) (invoke.End, *halt) {
	call := invoke.Apart()
	root := invoke.Root{Parent: r.ctx}
	ctx, _ := call.Begin(&root, time.Time{}, 0)
	r.watch(call)
	e, late := call.Wait(func() error { return f(ctx, call) })
	if late != nil {
		return invoke.End{}, r.ignored(e, late, root.Close)
	}
	r.watch(nil)
	root.Close()
	return e, r.undone(e)
}

// watch has the monitor look after a call; nil: there is none.
func (r *shared) watch(call *invoke.Call) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.t.call = call; call != nil && r.b.hurry {
		call.GiveUp()
	}
}

// undone tells what undoes the whole transaction; nil if the savepoint is enough, or nothing is wrong.
func (r *shared) undone(e invoke.End) *halt {
	if e.Err == nil {
		return nil // what was done counts, however late, if it commits
	}
	late, ok := e.Err.(*errLate) //nolint:errorlint // made here, a moment ago
	if r.tx.Outlived() {
		return &halt{kind: haltFailed, reason: work.ReasonError, end: invoke.End{Err: invoke.ErrOutlives}}
	}
	if r.tx.Ended() {
		if ok {
			e = invoke.End{Err: late.err}
		}
		return &halt{kind: haltEnded, end: e}
	}
	if h := r.ours(e); h != nil {
		return h
	}
	switch {
	case ok:
		return &halt{kind: haltTimeout, end: invoke.End{Err: late.err}}
	case r.tx.Lost():
		return r.broke(e)
	}
	return nil
}

// ours is the halt if the end of the handlers' context was our doing, whatever they returned then.
func (r *shared) ours(e invoke.End) *halt {
	cause := context.Cause(r.ctx)
	switch {
	case errors.Is(cause, nexus.ErrDraining):
		return &halt{kind: haltDrained, end: e}
	case errors.Is(cause, nexus.ErrLeaseLost):
		return &halt{kind: haltFence, end: e}
	case errors.Is(cause, errLimit), r.express && time.Since(r.t.began) >= r.b.limit:
		return &halt{kind: haltLimit, end: e} // the server's own limits come at the same time
	}
	return nil
}

// broke tells what it means that a statement of the loop failed, or that the transaction is over.
func (r *shared) broke(e invoke.End) *halt {
	if h := r.ours(e); h != nil {
		return h
	}
	if invoke.Replaced(e.Err) {
		return &halt{kind: haltEnded, end: e} // and another one begun
	}
	if r.tx.Broken(e.Err) {
		return &halt{kind: haltLost, end: e}
	}
	return &halt{kind: haltFailed, reason: work.ReasonError, end: e}
}

// ignored is the halt of handlers that were given up.
func (r *shared) ignored(e invoke.End, late <-chan struct{}, release func()) *halt {
	h := r.ours(e)
	if h == nil {
		h = &halt{kind: haltTimeout, end: e}
	}
	h.stuck, h.release = late, release
	return h
}

// quit gives the transaction up. Handlers that do not come back keep their place.
func (r *shared) quit(h *halt) {
	b, t := r.b, r.t
	if h.stuck == nil {
		r.tx.Close(b.Context())
		return
	}
	list := own(t.items)
	b.SayGivenUp(list...)
	b.mu.Lock()
	call := t.call
	t.call = nil
	b.stuck[call] = list
	b.lacking++
	t.lacks = true
	b.share.Stick(1)
	b.share.Hold(b.need())
	b.mu.Unlock()
	r.tx.Sever()
	go func() {
		<-h.stuck
		h.late()
		h.release()
		r.tx.Discard()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.stuck, call)
		b.share.Stick(-1)
		b.share.Done(b.need())
		b.changed.Broadcast()
		b.Stir()
	}()
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

var errLimit = errors.New("the batch takes longer than the express limit")
