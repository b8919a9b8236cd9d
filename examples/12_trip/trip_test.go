package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

func TestMain(m *testing.M) { nexustest.Main(m) }

func TestTrip(t *testing.T) {
	env := nexustest.New(t, "trips") // a database of its own, whose clock stands still
	if _, err := env.Pool.Exec(t.Context(), `create table public.example_seats (seat int primary key, name text); insert into public.example_seats values (1)`); err != nil {
		t.Fatal(err)
	}
	flow := newTrip(false)
	n := node.New(env.Pool, node.Config{Namespace: "trips"})
	n.Add(flow)
	env.Work(n) // registers the workflow

	late, _, err := flow.Start(t.Context(), env.Pool, "trips", trip{Name: "eve"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = nexustest.Finish(env, n, flow, late) // moves the clock past the three seconds
	if end, failed := errors.AsType[*workflow.RunError](err); !failed || end.Reason != "nobody has approved it" {
		t.Error(err)
	}
	if journal := env.Journal(late); !slices.Contains(journal, "seat~undo") {
		t.Errorf("the seat was not given back: %v", journal)
	}

	id, _, err := flow.Start(t.Context(), env.Pool, "trips", trip{Name: "ann"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workflow.Signal(t.Context(), env.Pool, id, "approved", approval{By: "bob"}); err != nil {
		t.Fatal(err)
	}
	out, err := nexustest.Finish(env, n, flow, id)
	if want := "seat 1, room 7, a small car, approved by bob"; err != nil || out != want {
		t.Errorf("%q, %v", out, err)
	}
}
