package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
)

// StepRef is a declared step: its options until the node runs, its result afterwards.
type StepRef[In, R any] struct {
	Retry               nexus.RetryPolicy // zero fields: the workflow's
	Timeout             time.Duration     // of one attempt; 0: the workflow's; negative: none
	CompensateOnFailure bool              // undo it also where it failed, since its outcome may not be known; the result is then R's zero value

	n    *node
	read func(c *call, key string, result []byte) (R, error)
}

func refer[In, R any](n *node) *StepRef[In, R] {
	s := &StepRef[In, R]{n: n, read: func(_ *call, _ string, result []byte) (v R, err error) {
		err = decode(result, &v)
		return v, err
	}}
	n.options = func() options { return options{retry: s.Retry, timeout: s.Timeout, onFailure: s.CompensateOnFailure} }
	return s
}

// Result is what the step returned, from the journal. It panics if the step has not completed, which the order of the declaration rules out but
// for branches not taken; see Done.
func (s *StepRef[In, R]) Result(r *Run[In]) R {
	if r.c == nil {
		panic("workflow: a Run that no node made has no results")
	}
	if r.c.at.flow != s.n.flow {
		panic(fmt.Sprintf("workflow: step %q is of workflow %q, and its result was read in %q", s.n.name, s.n.flow.name, r.c.at.flow.name))
	}
	key, ok := r.c.journal.newest(s.n, r.c.at, r.c.scope)
	if !ok {
		panic(fmt.Sprintf("workflow: step %q reads the result of %q, which has not completed", r.Step, s.n.name))
	}
	result, _ := r.c.journal.get(key)
	v, err := s.read(r.c, key, result)
	if err != nil {
		panic(fmt.Errorf("workflow: step %q reads the result of %q: %w: %w", r.Step, key, invoke.ErrDecode, err))
	}
	return v
}

// Done reports whether the step has completed: false in a branch that was not taken.
func (s *StepRef[In, R]) Done(r *Run[In]) bool {
	if r.c == nil {
		return false
	}
	_, ok := r.c.journal.newest(s.n, r.c.at, r.c.scope)
	return ok
}

// Compensate says how to undo the step once a later one has failed for good. fn gets what the step returned, and is retried as the step is. One of
// Compensate, CompensateTx and CompensateSQL may be given.
func (s *StepRef[In, R]) Compensate(fn func(ctx context.Context, r *Run[In], result R) error) *StepRef[In, R] {
	s.n.needs(fn != nil, "function that undoes it").compensate(&undo{kind: "go", do: func(ctx context.Context, _ pgx.Tx, c *call, raw []byte) error {
		r, result, err := undoing[In, R](c, raw)
		if err != nil {
			return err
		}
		return fn(ctx, r, result)
	}})
	return s
}

// CompensateTx is Compensate in the transaction that journals it.
func (s *StepRef[In, R]) CompensateTx(fn func(ctx context.Context, tx pgx.Tx, r *Run[In], result R) error) *StepRef[In, R] {
	s.n.needs(fn != nil, "function that undoes it").compensate(&undo{kind: "tx", do: func(ctx context.Context, tx pgx.Tx, c *call, raw []byte) error {
		r, result, err := undoing[In, R](c, raw)
		if err != nil {
			return err
		}
		return fn(ctx, tx, r, result)
	}})
	return s
}

// CompensateSQL undoes the step by a function of the database, named as schema.name(jsonb), which runs as its owner and also while no node is
// alive.
func (s *StepRef[In, R]) CompensateSQL(function string) *StepRef[In, R] {
	s.n.needs(function != "", "function of the database that undoes it").compensate(&undo{kind: "sql", function: function})
	return s
}

func undoing[In, R any](c *call, raw []byte) (r *Run[In], result R, err error) {
	if r, err = runOf[In](c); err == nil && raw != nil {
		if err = decode(raw, &result); err != nil {
			err = undecodable("result", c, err)
		}
	}
	return r, result, err
}

// undecodable is the error of a value that does not fit the type that code has for it now.
func undecodable(what string, c *call, err error) error {
	return fmt.Errorf("%s of %s: %w: %w", what, c.key(), invoke.ErrDecode, err)
}

// decode reads JSON as [nexus.Delivery.Decode] does.
func decode(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}

// text is a JSON string's.
func text(raw []byte) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func keyed(key string, item int) string { return key + "#" + strconv.Itoa(item) }
