package batch

import (
	"context"
	"errors"
	"time"

	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

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
			route := r.b.Handlers.Route(work.KindOf(m.Delivery()))
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
