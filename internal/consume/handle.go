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

// handle runs an item's handlers and finds out what came out, however they end. Leave has to follow, even if they end the goroutine.
func (l *Loop) handle(root *invoke.Root, t *task) {
	ctx, ok := t.call.Begin(root, t.started, t.route.Timeout)
	defer t.call.Release()

	var tx engine.Tx
	if ok && t.route.Transactional {
		var err error
		if tx, err = l.source.Begin(nexus.WithDelivery(ctx, t.item.Delivery())); err != nil {
			l.conclude(t, nil, invoke.End{Err: err})
			return
		}
		l.mu.Lock()
		t.tx = tx
		l.unreadyCount = 0
		l.mu.Unlock()
	}
	var e invoke.End
	observed := l.observed(ctx, t)
	began := t.started
	if tx != nil {
		began = time.Now() // it may have waited for a connection
	}
	defer func() {
		if t.end != nil {
			t.took = time.Since(began)
		}
		l.conclude(t, tx, e)
	}()
	if ok {
		e.Catch(func() error { return t.route.One(observed, l.Middleware, tx, t.item) })
	}
}

// conclude ends the transaction, if there is one, and leaves what is to be settled in the task, unless the monitor has settled it.
func (l *Loop) conclude(t *task, tx engine.Tx, e invoke.End) {
	cause, mine := t.call.Back()
	r, settled := work.Result{}, true
	if mine {
		r, settled = l.verdict(cause, t, tx, e)
	}
	switch {
	case tx == nil:
	case mine:
		tx.Close(l.Context())
	default:
		tx.Discard()
	}
	t.observedEnd(r, e.Err, !mine)
	r.Item = t.item
	t.result, t.owed = r, !settled
}

// verdict decides about an item whose handlers are back; cause is why their context has ended. settled means that nothing is left to send: the commit
// carried the ack, or the lease was lost.
func (l *Loop) verdict(cause error, t *task, tx engine.Tx, e invoke.End) (r work.Result, settled bool) {
	r = invoke.Judge(e, cause, t.route.Timeout)
	if t.route.Transactional {
		switch {
		case tx == nil:
			l.unready(e.Err)
			r = work.Result{Action: work.Release, After: time.Second, Reason: "no connection", Error: invoke.Failure(e)}
		case tx.Ended():
			r = invoke.Ended(invoke.ErrEnded, e.Err)
		case r.Action == work.Ack:
			err := tx.Ack(l.Context(), t.item)
			switch {
			case err == nil:
				l.SaySettled([]work.Result{{Item: t.item}}, nil)
				return r, true
			case engine.IsLost(err):
				l.SayLost(t.d)
				return work.Result{Action: work.Release, Reason: nexus.ErrLeaseLost.Error()}, true
			case tx.Broken(err):
				r = l.broken(t.d, err)
			case errors.Is(err, invoke.ErrEnded):
				r = invoke.Ended(invoke.ErrEnded, nil)
			default:
				r = work.Result{Action: work.Retry, Reason: work.ReasonCommit, Error: invoke.Failure(invoke.End{Err: err})}
			}
		case r.Action == work.Retry && cause == nil && tx.Broken(e.Err):
			r = l.broken(t.d, e.Err)
		}
	}
	r.Policy = t.route.Policy
	l.SayFailed(t.d, r)
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
func (l *Loop) broken(d *nexus.Delivery, err error) work.Result {
	if db.Unavailable(err) {
		l.Unavailable(err)
	}
	return invoke.Broken(d, err)
}

// observed begins the observation of a call with one delivery.
func (l *Loop) observed(ctx context.Context, t *task) context.Context {
	if l.Observer == nil {
		return ctx
	}
	ctx, t.end = l.Observer.Handling(ctx, []*nexus.Delivery{t.d})
	return ctx
}

// observedEnd ends it, if it began.
func (t *task) observedEnd(r work.Result, err error, late bool) {
	if t.end != nil {
		t.end([]work.Observed{{Result: r, Err: err, Late: late}}, t.took)
	}
}
