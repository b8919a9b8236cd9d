package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// timeout of one attempt at a node.
func (h *hand) timeout(n *node) time.Duration {
	if n.options != nil {
		if d := n.options().timeout; d != 0 {
			return d
		}
	}
	if d := h.r.flow.set().timeout; d != 0 {
		return d
	}
	return h.r.h.Timeout
}

// plain runs code that holds no connection. left: it did not, since the node drains.
func (h *hand) plain(n *node, f func(ctx context.Context) error) (res work.Result, left bool) {
	if !h.r.steps.enter(h.draining) {
		return work.Result{}, true
	}
	timeout := h.timeout(n)
	e, late, cause := h.invoke(timeout, f)
	if late != nil {
		h.r.steps.stuck(late)
	} else {
		h.r.steps.leave()
	}
	return invoke.Judge(e, cause, timeout), false
}

// invoke runs f and watches it. late is closed when code that was given up comes back; nil for all other.
func (h *hand) invoke(timeout time.Duration, f func(ctx context.Context) error) (e invoke.End, late <-chan struct{}, cause error) {
	call := invoke.Apart()
	began := time.Now()
	ctx, _ := call.Begin(&h.root, began, timeout)
	inner, end := h.observed(ctx)
	h.watch(call)
	e, late = call.Wait(func() error {
		if err := work.Fault(inner, h.facts.workflow, h.codeKey()); err != nil {
			return err
		}
		return f(inner)
	})
	cause = context.Cause(ctx)
	if end != nil {
		end(invoke.Judge(e, cause, timeout), e.Err, late != nil, time.Since(began))
	}
	h.watch(nil)
	if late == nil {
		call.Release()
	}
	return e, late, cause
}

// codeKey is the key of what is called, in the journal.
func (h *hand) codeKey() string {
	if h.state == "undo" {
		return h.key + "~undo"
	}
	return h.key
}

// observed tells who watches steps of the one that caller named last; end is nil where nobody does.
func (h *hand) observed(ctx context.Context) (_ context.Context, end func(r work.Result, err error, late bool, took time.Duration)) {
	if h.r.h.Steps == nil {
		return ctx, nil
	}
	return h.r.h.Steps(ctx, work.Step{
		Namespace: h.facts.namespace, Workflow: h.facts.workflow, Run: h.run, Key: h.key, Undo: h.state == "undo", Attempt: h.attempt + 1,
		Traceparent: h.facts.traceparent, CorrelationID: h.facts.correlated(),
	})
}

func (h *hand) watch(call *invoke.Call) {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	h.call = call
	if h.over && call != nil {
		call.Stop(nexus.ErrLeaseLost)
	}
}

// inTx runs code in a transaction that ends with what end adds to it. committed says that both are there.
func (h *hand) inTx(n *node, f func(ctx context.Context, tx pgx.Tx) error, end func(b *pgx.Batch)) (res work.Result, committed, left bool) {
	if !h.r.holds.enter(h.draining) {
		return work.Result{}, false, true
	}
	var late <-chan struct{}
	defer func() {
		if late != nil {
			h.r.holds.stuck(late)
		} else {
			h.r.holds.leave()
		}
	}()
	parent := h.root.Parent
	tx, err := invoke.Begin(parent, h.r.h.Handlers, h.r.h.Session, true, "")
	if err != nil {
		if parent.Err() == nil && !db.Unavailable(err) {
			return work.Result{Action: work.Retry, Reason: work.ReasonError, Error: work.Storable("begin: "+err.Error(), work.MaxText)}, false, false
		}
		return work.Result{Action: work.Release, After: time.Second}, false, false
	}
	timeout := h.timeout(n)
	var e invoke.End
	var cause error
	e, late, cause = h.invoke(timeout, func(ctx context.Context) error {
		lent, back := tx.Lend()
		defer back()
		return f(ctx, lent)
	})
	if late != nil {
		tx.Discard()
		return invoke.Judge(e, cause, timeout), false, false
	}
	if e.Err == nil {
		e.Err = tx.Fault()
	}
	res = invoke.Judge(e, cause, timeout)
	if tx.Ended() {
		res = invoke.Ended(invoke.ErrEnded, e.Err)
	} else if e.Err != nil && tx.Broken(e.Err) {
		res = h.lostTx(e.Err)
	}
	if res.Action != work.Ack {
		tx.Close(parent)
		return res, false, false
	}
	err = tx.Commit(context.WithoutCancel(parent), end)
	broken := err != nil && tx.Broken(err)
	tx.Close(context.WithoutCancel(parent))
	switch {
	case err == nil:
		h.kept()
		return res, true, false
	case errors.Is(err, nexus.ErrLeaseLost):
		h.report("the lease of a run was lost")
		return work.Result{Action: work.Ack}, false, false
	case errors.Is(err, invoke.ErrEnded):
		return invoke.Ended(invoke.ErrEnded, nil), false, false
	case errors.Is(err, nexus.ErrLimit):
		return verdict(reasonResult, invoke.TextOf(err)), false, false
	case broken: // a session that ends is no failure of the step
		h.report("a step could not be committed, and runs again in a second", "error", err)
		return h.lostTx(err), false, false
	case db.Unavailable(err) && !invoke.ReadOnly(err):
		h.report("a step could not be committed, and runs again in a second", "error", err)
		return work.Result{Action: work.Release, After: time.Second}, false, false
	}
	// Whether it committed may not be known. If it did, the cursor is further than this says, and what follows changes nothing.
	return work.Result{Action: work.Retry, Reason: work.ReasonCommit, Error: work.Storable("commit: "+invoke.TextOf(err), work.MaxText)}, false, false
}

// codeID is what is called, among all that the runner has called.
func (h *hand) codeID() string { return h.run.String() + " " + h.path + " " + h.codeKey() }

// lostTx is the result of code whose transaction was lost through no fault of its own: it is called again, though not for ever.
func (h *hand) lostTx(err error) work.Result {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	id := h.codeID()
	times := h.r.broken[id]
	if len(h.r.broken) >= brokenMost {
		clear(h.r.broken)
	}
	h.r.broken[id] = times + 1
	return invoke.BrokenAgain(times, err)
}

// kept forgets what broke before.
func (h *hand) kept() {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if len(h.r.broken) > 0 {
		delete(h.r.broken, h.codeID())
	}
}

// brokenMost is how many of them a runner remembers.
const brokenMost = 10_000

// stepTx runs a step in the transaction that journals it.
func (h *hand) stepTx(p place) (more bool, err error) {
	c := h.caller(p)
	key, op := p.key(), opNext
	var text, outcome, detail string
	var output *string
	res, committed, left := h.inTx(p.node, func(ctx context.Context, tx pgx.Tx) error {
		result, err := p.node.step(ctx, tx, c)
		if anew := continues(err); anew != nil {
			if h.path != "" {
				return fmt.Errorf("%w: a step in a branch cannot continue as a new run", nexus.Reject(reasonRefused))
			}
			op, text, output = opAgain, "null", &anew.input
			return nil
		}
		if err != nil {
			return err
		}
		if text, err = encode("commit_tx_step", "result", result); err == nil {
			err = h.fits(len(text))
		}
		return stored(err)
	}, func(b *pgx.Batch) {
		if op == opNext {
			op = h.opAfter(key, text)
		}
		b.Queue(`select outcome, coalesce(detail, '') from core_node.commit_tx_step($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9::text::jsonb,
			$10::text::jsonb, $11, $12::text::jsonb, $13)`, h.run, h.path, h.epoch, h.token, h.pos, p.node.top()+1, key, ordText(p.ord()), text,
			nullable(h.undoing(p.node)), op, output, !h.journal.tried(key)).QueryRow(func(row pgx.Row) error { return row.Scan(&outcome, &detail) })
	})
	switch {
	case !committed && !left && res.Action == work.Ack: // lost
		return false, nil
	case !committed:
		h.journal.drop(key)
		return h.settle(p, res, left)
	case op == opBranch:
		return h.branched(outcome, detail, nil)
	case outcome == ok:
		h.advance(key, text)
		return op == opNext, nil
	}
	return false, nil
}

// opAfter is what follows a result, which is noted.
func (h *hand) opAfter(key, result string) string {
	h.journal.put(key, []byte(result))
	next, err := h.r.flow.next(h.path, h.journal)
	switch {
	case err == nil && next.what == finish && h.path != "":
		return opBranch
	case h.cedes():
		return opYield
	}
	return opNext
}

// backward undoes the next step of a run.
func (h *hand) backward() (more bool, err error) {
	name, scope, err := split(h.undoKey)
	if err != nil {
		return false, err
	}
	n := h.r.flow.byName[name]
	if n == nil || n.undo == nil || n.undo.do == nil {
		return h.undid(h.undoStep(work.Reject.String(), verdict(reasonRefused, "this version of the workflow has no compensation of "+name), ""))
	}
	c := h.caller(place{node: n, scope: scope})
	c.undo = true
	result := h.journal.results[h.undoKey]
	if n.undo.kind == "tx" {
		var outcome, next string
		res, committed, left := h.inTx(n, func(ctx context.Context, tx pgx.Tx) error { return n.undo.do(ctx, tx, c, result) }, func(b *pgx.Batch) {
			b.Queue("select outcome, coalesce(next_key, '') from core_node.undo_tx_step($1, $2, $3, $4)", h.run, h.epoch, h.token, h.undoKey).
				QueryRow(func(row pgx.Row) error { return row.Scan(&outcome, &next) })
		})
		switch {
		case committed:
			return h.undid(outcome, next, nil)
		case left:
			return false, h.release()
		case res.Action == work.Ack: // lost
			return false, nil
		}
		return h.notUndone(n, res)
	}
	res, left := h.plain(n, func(ctx context.Context) error { return n.undo.do(ctx, nil, c, result) })
	switch {
	case left:
		return false, h.release()
	case res.Action != work.Ack:
		return h.notUndone(n, res)
	}
	return h.undid(h.undoStep("done", work.Result{}, ""))
}

func (h *hand) notUndone(n *node, res work.Result) (more bool, err error) {
	if res.Action != work.Release {
		h.report("a compensation failed", "reason", res.Reason, "error", res.Error)
	}
	return h.undid(h.undoStep(res.Action.String(), res, h.policy(n)))
}

// undid says what follows: the step before, under the same lease, or nothing.
func (h *hand) undid(outcome, next string, err error) (more bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case outcome == nextUndo && next != "":
		h.did++
		h.undoKey, h.attempt, h.deaths = next, 0, 0
		return true, nil
	case outcome == lost:
		h.report("the lease of a run was lost")
	case outcome == undoStuck:
		h.report("a run is not undone, somebody has to look at it")
	case outcome == undone:
		h.did++
	}
	return false, nil
}
