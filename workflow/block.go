package workflow

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Step adds a step that runs fn without a transaction, under a lease. It may run again after a crash, or if its lease was lost, until its
// result is in the journal: whatever it does elsewhere goes by [Run.IdempotencyKey].
func Step[In, R any](at Steps[In], name string, fn func(ctx context.Context, r *Run[In]) (R, error)) *StepRef[In, R] {
	n := at.steps().n.add(&node{kind: stepKind, name: name}).needs(fn != nil, "function")
	n.step = func(ctx context.Context, _ pgx.Tx, c *call) (any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		return fn(ctx, r)
	}
	return refer[In, R](n)
}

// TxStep adds a step that runs fn in the transaction that journals its result: what it writes is there once, or not at all.
func TxStep[In, R any](at Steps[In], name string, fn func(ctx context.Context, tx pgx.Tx, r *Run[In]) (R, error)) *StepRef[In, R] {
	n := at.steps().n.add(&node{kind: txKind, name: name}).needs(fn != nil, "function")
	n.step = func(ctx context.Context, tx pgx.Tx, c *call) (any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		return fn(ctx, tx, r)
	}
	return refer[In, R](n)
}

// Sleep waits for d by the clock of the database, be it seconds or years. It holds neither a connection nor a goroutine.
func Sleep[In any](at Steps[In], name string, d time.Duration) {
	at.steps().n.add(&node{kind: sleepKind, name: name, d: d})
}

// SleepUntil waits until the time that t returns, which is journaled. One that has passed is no wait.
func SleepUntil[In any](at Steps[In], name string, t func(r *Run[In]) time.Time) {
	n := at.steps().n.add(&node{kind: untilKind, name: name}).needs(t != nil, "function")
	n.until = func(c *call) time.Time {
		r, err := runOf[In](c)
		if err != nil {
			panic(err)
		}
		return t(r)
	}
}

// WaitForSignal waits for a signal of that name, see [Signal]. One that was sent before counts. The result is nil after timeout; 0: it waits for
// ever.
func WaitForSignal[S, In any](at Steps[In], name string, timeout time.Duration) *StepRef[In, *S] {
	s := refer[In, *S](at.steps().n.add(&node{kind: signalKind, name: name, d: timeout}))
	s.read = func(_ *call, _ string, result []byte) (*S, error) {
		var came *struct{ Payload *S }
		if err := decode(result, &came); err != nil || came == nil {
			return nil, err
		}
		if came.Payload == nil { // the signal was null
			came.Payload = new(S)
		}
		return came.Payload, nil
	}
	return s
}

// Map runs fn for each item, at most that many at once. Items are journaled, and so is each result; those of the step are in the order of the
// items.
func Map[In, E, R any](at Steps[In], name string, atOnce int, items func(r *Run[In]) ([]E, error),
	fn func(ctx context.Context, r *Run[In], item E) (R, error),
) *StepRef[In, []R] {
	n := at.steps().n.add(&node{kind: mapKind, name: name, most: atOnce}).needs(items != nil && fn != nil, "function")
	n.items = func(c *call) ([]any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		list, err := items(r)
		all := make([]any, len(list))
		for i, item := range list {
			all[i] = item
		}
		return all, err
	}
	n.step = func(ctx context.Context, _ pgx.Tx, c *call) (any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		var item E
		if err := decode(c.item, &item); err != nil {
			return nil, undecodable("item", c, err)
		}
		return fn(ctx, r, item)
	}
	s := refer[In, []R](n)
	s.read = func(c *call, key string, _ []byte) ([]R, error) {
		all := []R{}
		for i := 0; ; i++ {
			raw, ok := c.journal.get(keyed(key, i))
			if !ok {
				return all, nil
			}
			var one R
			if err := decode(raw, &one); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return s
}

// CompensateItem undoes a Map item by item, the last one first, each journaled for itself.
func CompensateItem[In, R any](s *StepRef[In, []R], fn func(ctx context.Context, r *Run[In], index int, result R) error) {
	s.n.needs(fn != nil, "function that undoes it").compensate(&undo{kind: "item", do: func(ctx context.Context, _ pgx.Tx, c *call, raw []byte) error {
		r, result, err := undoing[In, R](c, raw)
		if err != nil {
			return err
		}
		return fn(ctx, r, c.scope[len(c.scope)-1], result)
	}})
}

// Sequence is a block whose steps run one after another: what makes a branch of [Parallel] longer than one step.
func Sequence[In any](at Steps[In], name string) *Block[In] {
	return &Block[In]{at.steps().n.add(&node{kind: sequenceKind, name: name})}
}

// Parallel runs each step of the block, which may be a block itself, as a branch. When one has failed for good, those that have not begun are
// left out, and those under way go on to the end of their step.
func Parallel[In any](at Steps[In], name string) *Block[In] {
	return &Block[In]{at.steps().n.add(&node{kind: parallelKind, name: name})}
}

// Route runs the block that key names. The choice is journaled. A key without a block fails the run, without another attempt.
func Route[In any](at Steps[In], name string, key func(r *Run[In]) (string, error)) func(key string) *Block[In] {
	n := at.steps().n.add(&node{kind: routeKind, name: name}).needs(key != nil, "function")
	n.route = func(c *call) (string, error) {
		r, err := runOf[In](c)
		if err != nil {
			return "", err
		}
		return key(r)
	}
	return func(key string) *Block[In] { return &Block[In]{n.of(key)} }
}

// Loop repeats the block until done, which is asked after each turn, says so. After that many turns without it the run fails as loop_exhausted.
// The result of a step inside is that of its newest turn.
func Loop[In any](at Steps[In], name string, turns int, done func(r *Run[In]) (bool, error)) *Block[In] {
	n := at.steps().n.add(&node{kind: loopKind, name: name, most: turns}).needs(done != nil, "function")
	n.done = func(c *call) (bool, error) {
		r, err := runOf[In](c)
		if err != nil {
			return false, err
		}
		return done(r)
	}
	return &Block[In]{n}
}

// Child runs another workflow as a step, which needs a node that has it. Its failure is that of the step; cancelling the run cancels the child.
func Child[In, CIn, COut any](at Steps[In], name string, w *Workflow[CIn, COut], in func(r *Run[In]) (CIn, error)) *StepRef[In, COut] {
	n := at.steps().n.add(&node{kind: childKind, name: name}).needs(in != nil, "function").needs(w != nil, "workflow")
	if w != nil {
		n.child = w.flow.name
	}
	n.input = func(c *call) (any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		return in(r)
	}
	return refer[In, COut](n)
}
