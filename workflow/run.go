package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Run is what a step sees of its run.
type Run[In any] struct {
	ID        uuid.UUID
	Namespace nexus.Namespace
	Input     In
	Step      string // its key in the journal: the name, with #turn or #item for each Loop or Map around it, and ~undo of a compensation
	Turn      int    // of the innermost Loop, from 1 on; 0 outside of one
	Attempt   int    // failures before this one + 1
	Deaths    int    // how often a process died in this step
	StartedAt time.Time

	c *call
}

// call is a call of the user's code for one step of a run, without types.
type call struct {
	run     *facts
	journal *journal
	at      *node
	scope   []int
	undo    bool
	item    []byte // of a Map
	attempt int
	deaths  int

	progress func(ctx context.Context, v string) error
}

// facts of a run that never change.
type facts struct {
	id          uuid.UUID
	namespace   nexus.Namespace
	workflow    string
	input       []byte
	depth       int
	correlation string
	traceparent string // of the span that started the run; "": nobody traced that
	created     time.Time

	in atomic.Pointer[any] // the input, where no copy of it shares anything with another
}

// decoded is the input for one call of code.
func (f *facts) decoded(of *flow) (any, error) {
	if in := f.in.Load(); in != nil {
		return *in, nil
	}
	in, err := of.decode(f.input)
	if err == nil && of.flat {
		f.in.Store(&in)
	}
	return in, err
}

// headers are those of what started the run: what its steps emit goes on with that trace where nobody traces the steps.
func (f *facts) headers() map[string]string {
	if f.traceparent == "" {
		return nil
	}
	return map[string]string{"traceparent": f.traceparent}
}

// key is that of the step in the journal.
func (c *call) key() string {
	key := keyOf(c.at, c.scope)
	if c.at.kind == rootKind {
		key = returnsName
	}
	if c.undo {
		key += "~undo"
	}
	return key
}

// runOf makes the typed form of a run. Each call gets its own, so that what one step changes in the input no other one sees.
func runOf[In any](c *call) (*Run[In], error) {
	in, err := c.run.decoded(c.at.flow)
	if err != nil {
		return nil, undecodable("input", c, err)
	}
	typed, _ := in.(In) // of an interface it may be nil
	r := &Run[In]{
		ID: c.run.id, Namespace: c.run.namespace, Input: typed, Step: c.key(), Attempt: c.attempt, Deaths: c.deaths, StartedAt: c.run.created, c: c,
	}
	loops := len(c.at.loops())
	if c.at.kind == loopKind && len(c.scope) > loops { // it decides about that turn of its own
		loops++
	}
	if loops > 0 {
		r.Turn = c.scope[loops-1]
	}
	return r, nil
}

// IdempotencyKey is the same on every attempt of this step of this run, and of no other. Hand it to services that take such a key.
func (r *Run[In]) IdempotencyKey() string { return r.ID.String() + "/" + r.Step }

// LogValue implements [slog.LogValuer]: who logs a run logs what it is found by, and never its input.
func (r *Run[In]) LogValue() slog.Value {
	name := ""
	if r.c != nil {
		name = r.c.run.workflow
	}
	return slog.GroupValue(slog.String("namespace", string(r.Namespace)), slog.String("workflow", name), slog.String("run_id", r.ID.String()),
		slog.String("step", r.Step), slog.Int("attempt", r.Attempt))
}

// Progress replaces what core.workflow_runs.progress shows. It is there at once, whatever becomes of the step, and nothing goes by it.
func (r *Run[In]) Progress(ctx context.Context, v any) error {
	text, err := encode("set_progress", "progress", v)
	if err != nil {
		return err
	}
	if r.c == nil || r.c.progress == nil {
		return nil
	}
	return r.c.progress(ctx, text)
}

// encode writes v as JSON that the database keeps exactly; nil is null.
func encode(op, field string, v any) (string, error) {
	if v == nil {
		return "null", nil
	}
	text, err := db.Payload(op, field, v)
	if err == nil && len(text) > mostBytes {
		return "", &nexus.Error{
			Op: op, Code: nexus.CodePayloadTooLarge, Message: fmt.Sprintf("%s has %d bytes, and no namespace allows so many", field, len(text)), Field: field,
			Hint: "keep it elsewhere, and return where",
		}
	}
	return text, err
}

// mostBytes is twice what a namespace may allow, since escapes make text longer. What is far longer Postgres cannot even read to refuse it, and
// the step would be done again and again.
const mostBytes = 128 << 20

// keptMost is what the results of a run may have together. Whoever goes on with a run is given all of them, and has them in memory.
const keptMost = 128 << 20

// fits says what is wrong with so many bytes more in the journal; nil: nothing.
func (h *hand) fits(more int) error {
	if all := h.journal.kept + more; all > keptMost {
		return &nexus.Error{
			Op: "commit_steps", Code: nexus.CodePayloadTooLarge, Field: "result",
			Message: fmt.Sprintf("the results of the run have %d bytes together, and %d are the most", all, keptMost),
			Hint:    "keep them elsewhere, and return where",
		}
	}
	return nil
}

// again is the error of a step that ends its run and begins a new one.
type again struct {
	input string
	err   error
}

func (a *again) Error() string {
	if a.err != nil {
		return a.err.Error()
	}
	return "continue as a new run"
}

func (a *again) Unwrap() error { return a.err }

// ContinueAsNew is what a step returns to end the run and begin a new one with in, in the same commit: for runs that would go on for ever, and
// would grow their journal without end. A step in a branch may not.
func ContinueAsNew[In any](r *Run[In], in In) error {
	input, err := encode("start_workflow", "input", in)
	if err != nil {
		return &again{err: fmt.Errorf("step %s continues as new: %w", r.Step, err)}
	}
	return &again{input: input}
}
