package nexustest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nexuspg/nexus"

	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/workflow"
)

// A workflow that takes months is tested in a moment, with its retries and what it undoes.
func TestFinish(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	w := workflow.New[int, int]("patient")
	var at []time.Duration
	began := env.Now()
	tick := func() { at = append(at, env.Now().Sub(began)) }
	workflow.Step(w, "first", func(context.Context, *workflow.Run[int]) (int, error) { tick(); return 1, nil }).
		Compensate(func(context.Context, *workflow.Run[int], int) error { tick(); return nil })
	workflow.Sleep(w, "long", 90*24*time.Hour)
	asked := workflow.WaitForSignal[int](w, "asked", time.Hour)
	last := workflow.Step(w, "last", func(_ context.Context, r *workflow.Run[int]) (int, error) {
		tick()
		if r.Attempt < r.Input {
			return 0, errors.New("not yet")
		}
		return r.Attempt, nil
	})
	last.Retry = nexus.RetryPolicy{MaxAttempts: 3, Base: time.Minute, Jitter: -1}
	w.Returns(func(r *workflow.Run[int]) (int, error) {
		if asked.Result(r) != nil {
			return 0, errors.New("nobody has asked")
		}
		return last.Result(r), nil
	})
	n := newNode(env)
	n.Add(w)
	env.Work(n) // registers it
	run := func(in int) (int, []string, error) {
		at = nil
		began = env.Now()
		id, _, err := w.Start(t.Context(), env.Pool, "shop", in, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := nexustest.Finish(env, n, w, id)
		return out, env.Journal(id), err
	}
	day := 24 * time.Hour
	out, journal, err := run(2)
	if want := []time.Duration{0, 90*day + time.Hour, 90*day + time.Hour + time.Minute}; err != nil || out != 2 || !slices.Equal(at, want) {
		t.Errorf("%d %v at %v, want %v", out, err, at, want)
	}
	if want := []string{"first", "long", "asked", "last"}; !slices.Equal(journal, want) {
		t.Errorf("journal %v", journal)
	}
	_, journal, err = run(9)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" || e.Step != "last" {
		t.Errorf("%v", err)
	}
	if want := []string{"first", "first~undo", "long", "asked", "last failed"}; !slices.Equal(journal, want) {
		t.Errorf("journal %v", journal)
	}
}

// A run that goes on as a new one ends with the last of them, however long that sleeps.
func TestFinishOfAChain(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	w := workflow.New[int, int]("monthly")
	workflow.Sleep(w, "month", 30*24*time.Hour)
	workflow.Step(w, "bill", func(_ context.Context, r *workflow.Run[int]) (int, error) {
		if r.Input < 3 {
			return 0, workflow.ContinueAsNew(r, r.Input+1)
		}
		return 0, nil
	})
	w.Returns(func(r *workflow.Run[int]) (int, error) { return r.Input, nil })
	n := newNode(env)
	n.Add(w)
	env.Work(n) // registers it
	began := env.Now()
	id, _, err := w.Start(t.Context(), env.Pool, "shop", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := nexustest.Finish(env, n, w, id)
	if took := env.Now().Sub(began); out != 3 || err != nil || took != 90*24*time.Hour {
		t.Errorf("%d %v after %s", out, err, took)
	}
}

// A child that fails in its turn has its parent go on, though the parent's workflow was looked at before.
func TestFinishAfterAChildHasFailed(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	child := workflow.New[int, int]("child")
	workflow.Sleep(child, "nap", time.Hour)
	workflow.Step(child, "do", func(context.Context, *workflow.Run[int]) (int, error) { return 0, nexus.Reject("no") })
	w := workflow.New[int, int]("parent")
	workflow.Child(w, "of", child, func(r *workflow.Run[int]) (int, error) { return r.Input, nil }).Retry = nexus.RetryPolicy{MaxAttempts: 1}
	n := newNode(env)
	n.Add(w)
	n.Add(child)
	env.Work(n) // registers them
	id, _, err := w.Start(t.Context(), env.Pool, "shop", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = nexustest.Finish(env, n, w, id)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Step != "of" || e.Reason != "child" {
		t.Errorf("%v", err)
	}
}

// A step fails on purpose, and so does what undoes one.
func TestFailStep(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	w := workflow.New[int, int]("order")
	undone := 0
	workflow.Step(w, "reserve", func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil }).
		Compensate(func(context.Context, *workflow.Run[int], int) error { undone++; return nil })
	workflow.Step(w, "ship", func(_ context.Context, r *workflow.Run[int]) (int, error) { return r.Attempt, nil })
	n := newNode(env)
	n.Add(w)
	env.Work(n)
	run := func() error {
		id, _, err := w.Start(t.Context(), env.Pool, "shop", 1, nil)
		if err == nil {
			_, err = nexustest.Finish(env, n, w, id)
		}
		return err
	}
	env.FailStep("order", "ship", errors.New("no van"), 2)
	if err := run(); err != nil || undone != 0 {
		t.Errorf("after two failures of three attempts: %v, %d undone", err, undone)
	}
	env.FailStep("order", "ship", nexus.Reject("no such place"), 1)
	env.FailStep("order", "reserve~undo", errors.New("not now"), 1)
	err := run()
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" || e.Step != "ship" || e.Reason != "no such place" || undone != 1 {
		t.Errorf("%v, %d undone", err, undone)
	}
	if err := run(); err != nil {
		t.Errorf("what was to fail once fails again: %v", err)
	}
}

// A signal is sent before.
func TestFinishWithASignal(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	w := workflow.New[int, int]("asks")
	workflow.WaitForSignal[int](w, "answer", 0)
	n := newNode(env)
	n.Add(w)
	env.Work(n)
	id, _, err := w.Start(t.Context(), env.Pool, "shop", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workflow.Signal(t.Context(), env.Pool, id, "answer", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := nexustest.Finish(env, n, w, id); err != nil {
		t.Error(err)
	}
}
