package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/telemetry"
)

// StartOptions are the options of core.start_workflow. What is zero is not given.
type StartOptions struct {
	IdempotencyKey string        // a second start with the key is the first one's run; with another input it is [nexus.ErrConflict]
	Tags           []string      // to find it by
	Delay          time.Duration // before the first step
	Timeout        time.Duration // of the run, after the delay; then it ends timed_out, with compensation; 0: none
	CorrelationID  string        // of what its steps emit; default: that of the delivery in the context, else the id of the run
}

// Start makes the run in q's transaction, and a node takes it up once that has committed. started is false if the idempotency key has a run
// already. opts may be nil.
func (w *Workflow[In, Out]) Start(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, in In, opts *StartOptions) (run uuid.UUID, started bool, err error) {
	input, err := encode("start_workflow", "input", in)
	if err != nil {
		return uuid.Nil, false, err
	}
	return start(ctx, q, ns, w.flow.name, input, opts)
}

// StartNamed is [Workflow.Start] where there is only the name of the workflow.
func StartNamed(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, input json.RawMessage, opts *StartOptions) (run uuid.UUID, started bool, err error) {
	text, err := db.Payload("start_workflow", "input", input)
	if err != nil {
		return uuid.Nil, false, err
	}
	return start(ctx, q, ns, name, text, opts)
}

func start(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, input string, opts *StartOptions) (run uuid.UUID, started bool, err error) {
	const op = "start_workflow"
	if opts == nil {
		opts = &StartOptions{}
	}
	o := db.NewOptions(op, "")
	o.Text("idempotency_key", opts.IdempotencyKey)
	o.Texts("tags", opts.Tags)
	o.Duration("delay", opts.Delay)
	o.Duration("timeout", opts.Timeout)
	o.Chain(ctx, opts.CorrelationID, uuid.Nil)
	o.Text("traceparent", telemetry.Headers(ctx, nil)["traceparent"])
	options, err := o.Encode()
	if err != nil {
		return uuid.Nil, false, err
	}
	var id string
	err = db.Call(ctx, q, op, "select run_id::text, started from core.start_workflow($1::text, $2::text, $3::text::jsonb, $4::text::jsonb)",
		[]any{string(ns), name, input, options}, &id, &started)
	if err != nil {
		return uuid.Nil, false, err
	}
	run, err = uuid.Parse(id)
	return run, started, err
}

// RunError says how a run ended that did not complete.
type RunError struct {
	ID     uuid.UUID
	Status string // failed, compensation_failed, cancelled, timed_out
	Step   string // "" where it was none
	Reason string
	Text   string // of the error
}

func (e *RunError) Error() string {
	text := fmt.Sprintf("workflow run %s: %s", e.ID, e.Status)
	if e.Step != "" {
		text += " at " + e.Step
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Text != "" && e.Text != e.Reason {
		text += ": " + e.Text
	}
	return text
}

// Await waits until the run ends or ctx does, and holds no connection while it waits. Where the run did not complete the error is a [*RunError]. Of a
// run that continued as a new one it is the newest one's end.
func (w *Workflow[In, Out]) Await(ctx context.Context, pool *pgxpool.Pool, run uuid.UUID) (out Out, err error) {
	pause := 5 * time.Millisecond
	for {
		end, result, err := ended(ctx, pool, run)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil && !db.Passes(err):
			return out, err
		case err == nil && end.Status == "completed":
			if err := decode(result, &out); err != nil {
				return out, fmt.Errorf("workflow %s: result of run %s: %w", w.flow.name, run, err)
			}
			return out, nil
		case err == nil && end.Status != "":
			return out, end
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return out, ctx.Err()
		case <-timer.C:
		}
		pause = min(2*pause, time.Second)
	}
}

// ended is how a run has ended; without a status it has not.
func ended(ctx context.Context, q nexus.DBTX, run uuid.UUID) (*RunError, []byte, error) {
	const op = "workflow_outcome"
	end := &RunError{}
	var id, status string
	var result, fault *string
	err := db.Call(ctx, q, op, "select run_id::text, status, result::text, error::text from core.workflow_outcome($1::text::uuid)",
		[]any{run.String()}, &id, &status, &result, &fault)
	if err != nil {
		return nil, nil, err
	}
	if end.ID, err = uuid.Parse(id); err != nil {
		return nil, nil, err
	}
	switch status {
	case "completed", "failed", "compensation_failed", "cancelled", "timed_out":
		end.Status = status
	}
	if fault != nil {
		var e struct{ Step, Reason, Error string }
		if json.Unmarshal([]byte(*fault), &e) == nil {
			end.Step, end.Reason, end.Text = e.Step, e.Reason, e.Error
		}
	}
	if result == nil {
		return end, []byte("null"), nil
	}
	return end, []byte(*result), nil
}

// Outcome is the answer to [Signal] and [Cancel].
type Outcome string

// The outcomes.
const (
	Stored          Outcome = "stored"       // the signal is kept until the run takes it, if it ever does
	Cancelled       Outcome = "cancelled"    // the run is, or will be once the step in hand is over
	Compensating    Outcome = "compensating" // the run is being undone already, for another reason
	AlreadyFinished Outcome = "already_finished"
	NotFound        Outcome = "not_found"
)

// Signal sends a signal to a run, in q's transaction. It is kept whether the run waits for one yet or not, and of two of one name both are.
func Signal(ctx context.Context, q nexus.DBTX, run uuid.UUID, name string, payload any) (outcome Outcome, err error) {
	const op = "signal_workflow"
	text, err := encode(op, "payload", payload)
	if err != nil {
		return "", err
	}
	err = db.Call(ctx, q, op, "select core.signal_workflow($1::text::uuid, $2::text, $3::text::jsonb)", []any{run.String(), name, text}, &outcome)
	return outcome, err
}

// Cancel ends a run, after the step in hand, and with it its children; compensate says whether what it has done is undone.
// Without it the compensation of a run that is being undone is given up: that ends as compensation_failed, with a dead letter.
func Cancel(ctx context.Context, q nexus.DBTX, run uuid.UUID, compensate bool, reason string) (outcome Outcome, err error) {
	err = db.Call(ctx, q, "cancel_workflow", "select core.cancel_workflow($1::text::uuid, $2::text::bool, nullif($3::text, ''))",
		[]any{run.String(), fmt.Sprint(compensate), reason}, &outcome)
	return outcome, err
}

// Retry has a failed run go on where it failed, unless something of it was undone already, which is [nexus.ErrConflict]; and one whose compensation
// failed go on with that. It reports whether it did.
func Retry(ctx context.Context, q nexus.DBTX, run uuid.UUID) (resumed bool, err error) {
	err = db.Call(ctx, q, "retry_workflow", "select core.retry_workflow($1::text::uuid)", []any{run.String()}, &resumed)
	return resumed, err
}

// Accept says that a compensation that failed for good was dealt with by other means, and reports whether there was one.
func Accept(ctx context.Context, q nexus.DBTX, run uuid.UUID, reason string) (accepted bool, err error) {
	err = db.Call(ctx, q, "accept_workflow", "select core.accept_workflow($1::text::uuid, $2::text)", []any{run.String(), reason}, &accepted)
	return accepted, err
}

// Fork starts a new run from the journal of another, up to and not including step: an outermost one, or one inside of a block by its key in the journal,
// where other branches and items keep what they have done. What it takes over it never undoes.
func Fork(ctx context.Context, q nexus.DBTX, run uuid.UUID, step string) (fork uuid.UUID, err error) {
	var id string
	err = db.Call(ctx, q, "fork_workflow", "select core.fork_workflow($1::text::uuid, $2::text, '{}')::text", []any{run.String(), step}, &id)
	if err != nil {
		return uuid.Nil, err
	}
	return uuid.Parse(id)
}
