package consume

import (
	"context"
	"errors"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// stop ends the context of running handlers. The caller holds the mutex.
func (t *task) stop(now time.Time, cause error) {
	if t.stopped.IsZero() {
		t.stopped = now
		if t.cancel != nil {
			t.cancel(cause)
		}
	}
}

// handle runs an item's handlers and settles what came out, however they end.
func (l *Loop) handle(t *task, slot int) {
	ctx, cancel := l.context(t)
	defer cancel()

	var tx engine.Tx
	if t.route.Transactional {
		var err error
		if tx, err = l.source.Begin(ctx); err != nil {
			l.conclude(ctx, t, slot, nil, invoke.End{Err: err})
			return
		}
		l.mu.Lock()
		t.tx = tx
		l.unreadyCount = 0
		l.mu.Unlock()
	}
	var e invoke.End
	observed := l.observed(ctx, t)
	began := time.Now()
	defer func() {
		t.took = time.Since(began)
		l.conclude(ctx, t, slot, tx, e)
	}()
	e.Catch(func() error { return l.call(observed, t, tx) })
}

// context makes the context of handlers: the values that Run was given, the deadline, and a cause if it ends.
func (l *Loop) context(t *task) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(l.Values)
	l.mu.Lock()
	t.cancel = stop
	l.mu.Unlock()
	if t.route.Timeout <= 0 {
		return ctx, func() { stop(nil) }
	}
	ctx, cancel := context.WithDeadline(ctx, t.started.Add(t.route.Timeout))
	return ctx, func() { cancel(); stop(nil) }
}

// call runs the handlers in order, inside the middleware.
func (l *Loop) call(ctx context.Context, t *task, tx engine.Tx) error {
	return t.route.One(ctx, l.Middleware, tx, t.item)
}

// conclude ends the transaction, if there is one, and settles the item, unless the monitor already has.
func (l *Loop) conclude(ctx context.Context, t *task, slot int, tx engine.Tx, e invoke.End) {
	l.mu.Lock()
	mine := t.state == running
	if mine {
		t.state = returned
	}
	l.mu.Unlock()

	r, settled := work.Result{}, true
	if mine {
		r, settled = l.verdict(ctx, t, tx, e)
	}
	switch {
	case tx == nil:
	case mine:
		tx.Close(l.Context())
	default:
		tx.Discard()
	}
	t.observedEnd(r, e.Err, !mine)

	l.mu.Lock()
	defer l.mu.Unlock()
	t.tx = nil
	if !settled {
		r.Item = t.item
		l.settle(r)
	}
	l.leave(t, slot)
}

// verdict decides about an item whose handlers have returned. settled means that nothing is left to send: the commit
// carried the ack, or the lease was lost.
func (l *Loop) verdict(ctx context.Context, t *task, tx engine.Tx, e invoke.End) (r work.Result, settled bool) {
	r = invoke.Judge(e, context.Cause(ctx), t.route.Timeout)
	if t.route.Transactional {
		switch {
		case tx == nil:
			l.unready(e.Err)
			r = work.Result{Action: work.Release, After: time.Second, Reason: "no connection", Error: invoke.Failure(e)}
		case tx.Ended():
			r = engine.EndedEarly(invoke.ErrEnded, e.Err)
		case r.Action == work.Ack:
			err := tx.Ack(l.Context(), t.item)
			switch {
			case err == nil:
				if l.Observer != nil {
					l.Observer.Settled([]work.Result{{Item: t.item}}, nil)
				}
				return r, true
			case engine.IsLost(err):
				l.lost(t.d)
				return work.Result{Action: work.Release, Reason: nexus.ErrLeaseLost.Error()}, true
			case tx.Broken(err):
				r = l.broken(t, err)
			case errors.Is(err, invoke.ErrEnded):
				r = engine.EndedEarly(invoke.ErrEnded, nil)
			default:
				r = work.Result{Action: work.Retry, Reason: work.ReasonCommit, Error: invoke.Failure(invoke.End{Err: err})}
			}
		case r.Action == work.Retry && context.Cause(ctx) == nil && tx.Broken(e.Err):
			r = l.broken(t, e.Err)
		}
	}
	r.Policy = t.route.Policy
	switch r.Action {
	case work.Retry:
		l.Log.Warn("attempt failed", append(t.route.About(t.d), "reason", r.Reason, "error", work.Storable(r.Error, 300))...)
	case work.Reject:
		l.Log.Debug("event rejected", append(t.route.About(t.d), "reason", work.Storable(r.Reason, 300))...)
	}
	return r, false
}

// unready holds claims back for a while: handlers get no transaction, and events would only be claimed to be released.
func (l *Loop) unready(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Before(l.unreadyTill) {
		return // others found out already
	}
	l.unreadyCount++
	l.unreadyTill = now.Add(feed.Backoff(l.unreadyCount))
	if l.unreadySaid.Due() {
		l.Log.Warn("handlers get no transaction, claiming less", "error", err)
	}
	if db.Unavailable(err) {
		go l.Unavailable(err)
	}
}

// broken is the result of a transaction that the handlers lost through no fault of theirs.
func (l *Loop) broken(t *task, err error) work.Result {
	if db.Unavailable(err) {
		l.Unavailable(err)
	}
	text := invoke.Failure(invoke.End{Err: err})
	if t.d.Deferrals >= engine.BrokenLimit {
		return work.Result{Action: work.Retry, Reason: work.ReasonError, Error: text}
	}
	return work.Result{Action: work.Release, After: time.Second, Reason: "connection lost", Error: text}
}
