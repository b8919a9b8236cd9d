package workflow_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no JSON of this") }

type exits struct{}

func (exits) MarshalJSON() ([]byte, error) { runtime.Goexit(); return nil, nil }

// holds: W1 (code of users)
// Whatever code of users does is its step's failure: results that panic or end their goroutine when they are written, and steps that are declared by
// steps. Goroutines that a step leaves behind read results while the run goes on.
func TestCodeOfUsersEndsNoNode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	once := nexus.RetryPolicy{MaxAttempts: 1}
	marshal := workflow.New[int, int]("marshal")
	marshal.Retry = once
	workflow.Step(marshal, "a", func(context.Context, *workflow.Run[int]) (any, error) { return panics{}, nil })
	exit := workflow.New[int, int]("exit")
	exit.Retry = once
	workflow.Step(exit, "a", func(context.Context, *workflow.Run[int]) (any, error) { return exits{}, nil })
	late := workflow.New[int, int]("late")
	late.Retry = once
	workflow.Step(late, "a", func(context.Context, *workflow.Run[int]) (int, error) {
		workflow.Step(late, "b", func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil })
		return 1, nil
	})

	left := workflow.New[int, int]("left")
	var reading sync.WaitGroup
	end := make(chan struct{})
	var a *workflow.StepRef[int, int]
	loop := workflow.Loop(left, "loop", 100, func(r *workflow.Run[int]) (bool, error) { return r.Turn == 50, nil })
	a = workflow.Step(loop, "a", func(_ context.Context, r *workflow.Run[int]) (int, error) {
		if r.Turn == 2 {
			reading.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						a.Result(r)
					}
				}
			})
		}
		return r.Turn, nil
	})
	left.Returns(func(r *workflow.Run[int]) (int, error) { return a.Result(r), nil })

	start(t, db, node.Config{}, marshal, exit, late, left)
	for w, want := range map[*workflow.Workflow[int, int]]string{marshal: "no JSON of this", exit: "runtime.Goexit", late: `step "b" is declared after`} {
		_, err := await(t, db, w, begin(t, db, w, 1, nil))
		if e, failed := errors.AsType[*workflow.RunError](err); !failed || e.Step != "a" || e.Reason != "panic" || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v, want %s", w.Name(), err, want)
		}
	}
	got, err := await(t, db, left, begin(t, db, left, 1, nil))
	close(end)
	reading.Wait()
	if err != nil || got != 50 {
		t.Errorf("the run whose results are read by what it left: %d, %v", got, err)
	}

	zero := workflow.New[int, panics]("zero")
	workflow.Step(zero, "a", func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil })
	if _, err := zero.Check(t.Context(), db.Pool, ns); err == nil || !strings.Contains(err.Error(), "it has no Returns") || !strings.Contains(err.Error(), "no JSON of this") {
		t.Errorf("a result that cannot be written: %v", err)
	}
}
