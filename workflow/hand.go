package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// The reasons of failures that no step chose.
const (
	reasonResult  = "result" // it cannot be stored
	reasonLoop    = "loop_exhausted"
	reasonRoute   = "unknown_route"
	reasonRefused = "refused" // by the database
	reasonChild   = "child"
)

// hand is a cursor of a run in hand: it goes on step by step under one lease, until it has to wait, is over, or is given back.
type hand struct {
	r *runner
	fence
	facts    *facts
	state    string
	undoKey  string
	at       place  // what it does
	key      string // of the step whose code is called
	attempt  int
	deaths   int
	journal  *journal
	items    []json.RawMessage // of the Map whose items it works
	root     invoke.Root
	most     int // steps; 0: any number
	did      int
	draining context.Context
	due      time.Time     // since when it was, when it was claimed
	told     time.Time     // when the database last answered
	soon     time.Duration // after which the next commit was not quick
	wave     *wave         // with which it was answered

	// The lock of the runner guards these.
	until time.Time // when the lease ends, by this process's clock and never later than in the database
	over  bool      // it is lost
	gone  chan struct{}
	call  *invoke.Call // of the code that runs; nil: none does
}

// correlated is by what its effects are found.
func (f *facts) correlated() string {
	if f.correlation != "" {
		return f.correlation
	}
	return f.id.String()
}

// work has the cursor go on.
func (h *hand) work(draining context.Context) {
	defer h.r.forget(h)
	defer func() { h.wave.back() }()
	h.draining, h.told = draining, time.Now()
	h.root.Parent = nexus.WithDelivery(h.r.h.Handling, &nexus.Delivery{Event: nexus.Event{
		UID: h.run, Namespace: h.facts.namespace, Type: h.facts.workflow, CorrelationID: h.facts.correlated(), Depth: h.facts.depth, Headers: h.facts.headers(),
	}})
	defer h.root.Close()
	run := h.forward
	if h.state == "undo" {
		run = h.backward
	}
	for {
		switch more, err := run(); {
		case err != nil:
			h.broken(err)
			return
		case !more:
			return
		case draining.Err() != nil || h.most > 0 && h.did >= h.most:
			if err := h.release(); err != nil {
				h.broken(err)
			}
			return
		case h.isOver():
			h.report("the lease of a run was lost")
			return
		}
	}
}

func (h *hand) isOver() bool {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.over
}

// attrs are in each line about a run: by them it is found in the journal, where the attempts of its steps stand.
func (h *hand) attrs() []any {
	return []any{
		"node", h.r.h.NodeID, "namespace", string(h.facts.namespace), "workflow", h.facts.workflow, "run_id", h.run, "path", h.path,
		"step", h.standsAt(), "attempt", h.attempt + 1,
	}
}

// standsAt is the key of the step in hand.
func (h *hand) standsAt() string {
	switch {
	case h.state == "undo":
		return h.undoKey + "~undo"
	case h.at.node == nil: // all are done
		return returnsName
	}
	return h.at.key()
}

// report says that what was done for a run is done again elsewhere.
func (h *hand) report(what string, attrs ...any) {
	h.r.h.Logger.Warn(what, append(h.attrs(), attrs...)...)
}

// broken says that a run is left to whoever has it when its lease ends.
func (h *hand) broken(err error) {
	if db.Unavailable(err) {
		h.r.h.Unavailable(err)
	}
	h.report("a run could not go on, it will when its lease ends", "error", err)
}

// forward does the next thing of a run or branch. more says that it is still in hand.
func (h *hand) forward() (more bool, err error) {
	p, err := h.r.flow.next(h.path, h.journal)
	if err != nil {
		return false, err
	}
	h.at = p
	switch p.what {
	case finish:
		if h.path != "" {
			return h.branched(h.endBranch("", "", "", ""))
		}
		return h.finish()
	case exceed:
		return h.fail(p, verdict(reasonLoop, fmt.Sprintf("loop %s is not done after %d turns", p.key(), p.node.most)))
	case stray:
		return h.fail(p, verdict(reasonRoute, fmt.Sprintf("route %s has no block for what was chosen: %s", p.key(), h.journal.results[p.key()])))
	case choose:
		return h.choose(p)
	case decide:
		return h.ask(p, func(c *call) (any, error) { return p.node.done(c) })
	}
	if err := h.fits(0); err != nil { // what came from signals, children and other branches
		return h.fail(p, verdict(reasonResult, err.Error()))
	}
	switch p.node.kind {
	case sleepKind:
		return h.waited(p)(h.waitStep(p, "sleep", p.node.d, nil, ""))
	case signalKind:
		return h.waited(p)(h.waitStep(p, "signal", p.node.d, nil, p.node.name))
	case untilKind:
		var at time.Time
		c := h.caller(p)
		if res, left := h.plain(p.node, func(context.Context) error { at = p.node.until(c); return nil }); left || res.Action != work.Ack {
			return h.settle(p, res, left)
		}
		at = known(at)
		return h.waited(p)(h.waitStep(p, "until", 0, &at, ""))
	case parallelKind:
		return h.fan(p, open(p.node, p.scope, h.journal), nil)
	case mapKind:
		if p.item() {
			return h.step(p)
		}
		return h.spread(p)
	case childKind:
		return h.child(p)
	case txKind:
		return h.stepTx(p)
	default:
		return h.step(p)
	}
}

// verdict is a failure that no attempt can mend.
func verdict(reason, text string) work.Result {
	return work.Result{Action: work.Reject, Reason: reason, Error: work.Storable(text, work.MaxText)}
}

// caller is what code at a place sees.
func (h *hand) caller(p place) *call {
	c := &call{run: h.facts, journal: h.journal, at: p.node, scope: p.scope, attempt: h.attempt + 1, deaths: h.deaths, progress: h.setProgress}
	h.key = c.key()
	return c
}

// step runs one without a transaction.
func (h *hand) step(p place) (more bool, err error) {
	c := h.caller(p)
	if p.node.kind == mapKind {
		if c.item, err = h.itemOf(p); err != nil {
			return h.fail(p, verdict(reasonRefused, err.Error()))
		}
	}
	var text string
	var anew atomic.Pointer[again] // code that was given up may come to its end at any time
	res, left := h.plain(p.node, func(ctx context.Context) error {
		result, err := p.node.step(ctx, nil, c)
		if err != nil {
			anew.Store(continues(err))
			return err
		}
		text, err = encode("commit_steps", "result", result)
		return stored(err)
	})
	if a := anew.Load(); a != nil && !left {
		return h.continued(p, a)
	}
	if left || res.Action != work.Ack {
		return h.settle(p, res, left)
	}
	return h.done(p, text)
}

// itemOf is the item that the branch is for.
func (h *hand) itemOf(p place) ([]byte, error) {
	i := p.scope[len(p.scope)-1]
	if h.items == nil {
		if err := json.Unmarshal(h.journal.pending[keyOf(p.node, p.scope[:len(p.scope)-1])], &h.items); err != nil {
			return nil, fmt.Errorf("items of %s: %w", p.node.name, err)
		}
	}
	if i >= len(h.items) {
		return nil, fmt.Errorf("%s has %d items, and this is number %d", p.node.name, len(h.items), i)
	}
	return h.items[i], nil
}

// ask has a function of the declaration decide something, which is journaled.
func (h *hand) ask(p place, f func(c *call) (any, error)) (more bool, err error) {
	c := h.caller(p)
	var text string
	res, left := h.plain(p.node, func(context.Context) error {
		said, err := f(c)
		if err != nil {
			return err
		}
		text, err = encode("commit_steps", "result", said)
		return stored(err)
	})
	if left || res.Action != work.Ack {
		return h.settle(p, res, left)
	}
	return h.done(p, text)
}

// choose has a route say which block it takes.
func (h *hand) choose(p place) (more bool, err error) {
	c := h.caller(p)
	var key string
	res, left := h.plain(p.node, func(context.Context) (err error) {
		key, err = p.node.route(c)
		return err
	})
	if left || res.Action != work.Ack {
		return h.settle(p, res, left)
	}
	if !slices.ContainsFunc(p.node.steps, func(n *node) bool { return n.name == key }) {
		return h.fail(p, verdict(reasonRoute, fmt.Sprintf("route %s has no block for %q", p.key(), key)))
	}
	text, err := encode("commit_steps", "result", key)
	if err != nil {
		return h.fail(p, verdict(reasonResult, err.Error()))
	}
	return h.done(p, text)
}

// waited says what follows a wait that was asked for.
func (h *hand) waited(p place) func(outcome, result string, err error) (bool, error) {
	return func(outcome, result string, err error) (bool, error) {
		switch {
		case refused(err):
			return h.fail(p, verdict(reasonRefused, err.Error()))
		case err != nil:
			return false, err
		case outcome == goOn: // there is nothing to wait for
			if result == "" {
				result = "null"
			}
			h.advance(p.key(), result)
			return true, nil
		case outcome == lost:
			h.report("the lease of a run was lost")
		}
		return false, nil
	}
}

// advance notes what the database has journaled for the cursor.
func (h *hand) advance(key, result string) {
	if key != "" {
		h.journal.put(key, []byte(result))
	}
	h.pos++
	h.did++
	h.attempt, h.deaths = 0, 0
}

// fan opens branches.
func (h *hand) fan(p place, branches []string, items *string) (more bool, err error) {
	outcome, err := h.fanOut(p, branches, items)
	return h.waited(p)(outcome, "null", err)
}

// spread opens a branch for each of the first items of a Map. Which items there are was journaled if it has begun before.
func (h *hand) spread(p place) (more bool, err error) {
	list := string(h.journal.pending[p.key()])
	if list == "" || list == "null" {
		c := h.caller(p)
		res, left := h.plain(p.node, func(context.Context) error {
			all, err := p.node.items(c)
			if err != nil {
				return err
			}
			list, err = encode("fan_out", "items", all)
			return stored(err)
		})
		if left || res.Action != work.Ack {
			return h.settle(p, res, left)
		}
	}
	return h.fan(p, nil, &list)
}

// child starts another run, and fails where one has failed.
func (h *hand) child(p place) (more bool, err error) {
	if note := h.journal.pending[p.key()]; note != nil {
		var before struct {
			Failed *struct {
				Status string
				Error  struct{ Step, Reason, Error string }
			} `json:"child_failed"`
		}
		if json.Unmarshal(note, &before) == nil && before.Failed != nil {
			end := before.Failed
			return h.fail(p, work.Result{Action: work.Retry, Reason: reasonChild, Error: work.Storable(
				fmt.Sprintf("child %s %s at %s: %s: %s", p.node.child, end.Status, end.Error.Step, end.Error.Reason, end.Error.Error), work.MaxText)})
		}
	}
	c := h.caller(p)
	var input string
	res, left := h.plain(p.node, func(context.Context) error {
		in, err := p.node.input(c)
		if err != nil {
			return err
		}
		input, err = encode("start_child", "input", in)
		return stored(err)
	})
	if left || res.Action != work.Ack {
		return h.settle(p, res, left)
	}
	outcome, _, err := h.startChild(p, input, h.undoing(p.node))
	if refused(err) {
		return h.fail(p, work.Result{Action: work.Retry, Reason: reasonRefused, Error: work.Storable(err.Error(), work.MaxText)})
	}
	return h.waited(p)(outcome, "", err)
}

// undoing is what the journal keeps about how to undo a step; "": nothing.
func (h *hand) undoing(n *node) string {
	if n.undo == nil {
		return ""
	}
	u := struct {
		Kind      string          `json:"kind"`
		OnFailure bool            `json:"on_failure,omitempty"`
		Policy    json.RawMessage `json:"policy,omitempty"`
	}{n.undo.kind, n.options().onFailure, nil}
	if policy := h.policy(n); policy != "" {
		u.Policy = json.RawMessage(policy)
	}
	text, _ := json.Marshal(u) // cannot fail
	return string(text)
}

// policy of retries of a step; "": the default.
func (h *hand) policy(n *node) string {
	p := h.r.flow.set().retry
	if n.options != nil {
		p = handlers.Merge(n.options().retry, p)
	}
	text, err := db.Policy("fail_step", p)
	if err != nil || text == nil {
		return ""
	}
	return string(text)
}

// settle ends an attempt that did not go well; left: it was never made, since the node drains.
func (h *hand) settle(p place, res work.Result, left bool) (more bool, err error) {
	if left {
		return false, h.release()
	}
	return h.fail(p, res)
}

// fail says what becomes of an attempt that failed.
func (h *hand) fail(p place, res work.Result) (more bool, err error) {
	undo := ""
	if p.node.options != nil && p.node.options().onFailure && p.what == do {
		undo = h.undoing(p.node)
	}
	entered := p.node.top()
	if h.path != "" || p.node.in.kind != rootKind || p.node.kind == loopKind {
		entered++
	}
	return h.failed(p.key(), ordText(p.ord()), entered, res, h.policy(p.node), undo)
}

func (h *hand) failed(key, ord string, entered int, res work.Result, policy, undo string) (more bool, err error) {
	outcome, err := h.failStep(key, ord, entered, res, policy, undo)
	switch {
	case err != nil:
		return false, err
	case outcome == lost:
		h.report("the lease of a run was lost")
	case res.Action != work.Release:
		h.report("a step failed", "outcome", outcome, "reason", res.Reason, "error", res.Error)
	}
	return false, nil
}

// done journals a result, and with it whatever follows at once. It was made JSON where it came from: user code does that, too.
func (h *hand) done(p place, text string) (more bool, err error) {
	if err := h.fits(len(text)); err != nil {
		return h.fail(p, verdict(reasonResult, err.Error()))
	}
	key, undo := p.key(), ""
	if p.what == do {
		undo = h.undoing(p.node)
	}
	h.journal.put(key, []byte(text))
	next, err := h.r.flow.next(h.path, h.journal)
	if err != nil {
		return false, err
	}
	c := &commit{
		fence: h.fence, entered: p.node.top() + 1, key: &key, ord: nullable(ordText(p.ord())), result: &text, undo: nullable(undo), op: opNext, abandoned: h.gone,
		first: !h.journal.tried(key),
	}
	switch {
	case next.what != finish:
		if h.cedes() {
			c.op = opYield
		}
	case h.path != "":
		outcome, path, err := h.endBranch(key, *c.ord, text, undo)
		if refused(err) {
			h.journal.drop(key)
			return h.fail(p, verdict(reasonResult, err.Error()))
		}
		return h.branched(outcome, path, err)
	default:
		if out, res, left := h.output(); !left && res.Action == work.Ack { // else it comes round
			c.op, c.output = opEnd, &out
		}
	}
	a := h.commit(c)
	if (a.outcome == tooBig || refused(a.err)) && c.op == opEnd { // which of the two is too big shows when they go one by one
		c.op, c.output = opNext, nil
		a = h.commit(c)
	}
	switch {
	case a.outcome == tooBig || refused(a.err):
		h.journal.drop(key)
		why := a.detail
		if a.err != nil {
			why = a.err.Error()
		}
		return h.fail(p, verdict(reasonResult, why))
	case a.err != nil:
		return false, a.err
	case a.outcome == ok || a.outcome == already:
		h.advance(key, text)
		return c.op == opNext, nil
	case a.outcome == lost:
		h.report("the lease of a run was lost")
	}
	return false, nil
}

// refused reports whether err is the database's no to what was asked of it.
func refused(err error) bool {
	return errors.Is(err, nexus.ErrInvalid) || errors.Is(err, nexus.ErrLimit) || errors.Is(err, nexus.ErrNotFound)
}

// known is a time that Postgres has a name for, on the same side of now: whether it is over, or too far away, is for the database to say.
func known(at time.Time) time.Time {
	if last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC); at.After(last) {
		return last
	}
	if at.Before(time.Time{}) {
		return time.Time{}
	}
	return at
}

// stored marks an error as that of a value that cannot be stored.
func stored(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", nexus.Reject(reasonResult), err)
	}
	return nil
}

// cedes reports whether the slot is better given to another run.
func (h *hand) cedes() bool {
	return h.draining.Err() != nil || h.most > 0 && h.did+1 >= h.most || h.did >= cedeAfter && h.r.free() <= 0
}

// commit sends it with the next group, and waits for the answer.
func (h *hand) commit(c *commit) answer {
	c.answer, c.quick = make(chan answer, 1), time.Since(h.told) < h.soon
	h.wave.back()
	if !h.r.alone(c) || !h.r.sendAlone(c) {
		h.r.commits <- c
	}
	a := <-c.answer
	h.told, h.soon, h.wave = time.Now(), c.soon, c.wave
	return a
}

// branched says what follows the end of a branch: another item of the Map, under the same lease, or nothing.
func (h *hand) branched(outcome, path string, err error) (more bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case outcome == nextItem:
		h.did++
		h.r.mu.Lock()
		h.path, h.pos = path, 0
		h.r.mu.Unlock()
		h.attempt, h.deaths = 0, 0
		return true, nil
	case outcome == lost:
		h.report("the lease of a run was lost")
	default:
		h.did++
	}
	return false, nil
}

// output makes the result of the run; left: the node drains.
func (h *hand) output() (out string, res work.Result, left bool) {
	f := h.r.flow
	if f.returns == nil {
		out, err := f.zero()
		if err != nil {
			return "", verdict(reasonResult, "the result of the run cannot be stored: "+err.Error()), false
		}
		return out, work.Result{Action: work.Ack}, false
	}
	p := place{node: f.root}
	c := h.caller(p)
	res, left = h.plain(p.node, func(context.Context) error {
		v, err := f.returns(c)
		if err != nil {
			return err
		}
		out, err = encode("commit_steps", "output", v)
		return stored(err)
	})
	return out, res, left
}

// finish ends the run.
func (h *hand) finish() (more bool, err error) {
	n := len(h.r.flow.root.steps)
	out, res, left := h.output()
	if left {
		return false, h.release()
	}
	fail := func(res work.Result) (bool, error) {
		return h.failed(returnsName, ordText([]int{n}), n, res, h.policy(h.r.flow.root), "")
	}
	if res.Action != work.Ack {
		return fail(res)
	}
	a := h.commit(&commit{fence: h.fence, entered: n, op: opEnd, output: &out, abandoned: h.gone})
	switch {
	case a.outcome == tooBig || refused(a.err):
		return fail(verdict(reasonResult, "the result of the run cannot be stored: "+a.detail))
	case a.err != nil:
		return false, a.err
	case a.outcome == lost:
		h.report("the lease of a run was lost")
	}
	return false, nil
}

// continues is the wish of a step to end its run and begin a new one.
func continues(err error) (a *again) {
	defer func() {
		if recover() != nil { // the methods of a step's error run here
			a = nil
		}
	}()
	a, _ = errors.AsType[*again](err)
	if a != nil && a.err != nil {
		return nil // a failure
	}
	return a
}

// continued ends the run and begins a new one.
func (h *hand) continued(p place, anew *again) (more bool, err error) {
	if h.path != "" {
		return h.fail(p, verdict(reasonRefused, "a step in a branch cannot continue as a new run"))
	}
	key, null := p.key(), "null"
	a := h.commit(&commit{
		fence: h.fence, entered: p.node.top() + 1, key: &key, ord: nullable(ordText(p.ord())), result: &null, undo: nullable(h.undoing(p.node)),
		op: opAgain, output: &anew.input, abandoned: h.gone,
	})
	switch {
	case refused(a.err) || a.outcome == tooBig:
		return h.fail(p, verdict(reasonResult, "the input of the new run cannot be stored"))
	case a.outcome == lost:
		h.report("the lease of a run was lost")
	}
	return false, a.err
}
