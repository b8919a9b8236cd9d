package workflow_test

import (
	"context"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// holds: W13 (forks inside of blocks)
// A fork from a step inside of a block runs that step and what follows it; other branches and items keep what they have done.
func TestForksInsideOfBlocks(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Retry = quick
	does := func(at workflow.Steps[order], name string) *workflow.StepRef[order, int] {
		return workflow.Step(at, name, func(ctx context.Context, r *run) (int, error) {
			return r.Turn, note(ctx, db.Pool, r.ID, r.Step, r.Attempt)
		})
	}
	does(w, "a")
	both := workflow.Parallel(w, "both")
	does(both, "left")
	right := workflow.Sequence(both, "right")
	does(right, "r1")
	does(right, "r2")
	workflow.Map(w, "items", 2, func(*run) ([]int, error) { return []int{7, 8, 9}, nil }, func(ctx context.Context, r *run, item int) (int, error) {
		return item, note(ctx, db.Pool, r.ID, r.Step, item)
	})
	way := workflow.Route(w, "way", func(*run) (string, error) { return "long", nil })
	long := way("long")
	does(long, "first")
	var count *workflow.StepRef[order, int]
	thrice := workflow.Loop(long, "thrice", 3, func(r *run) (bool, error) { return count.Result(r) == 3, nil })
	count = does(thrice, "count")
	does(w, "z")
	w.Returns(func(r *run) (int, error) { return count.Result(r), nil })
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	if _, err := await(t, db, w, id); err != nil {
		t.Fatal(err)
	}
	whole := journal(t, db, id)
	for step, want := range map[string]string{
		"r2":      "count#1 count#2 count#3 first items#0 items#1 items#2 r2 z",
		"left":    "count#1 count#2 count#3 first items#0 items#1 items#2 left z",
		"right":   "",
		"items#1": "count#1 count#2 count#3 first items#1 z",
		"thrice":  "",
		"first":   "count#1 count#2 count#3 first z",
		"count#2": "count#2 count#3 z",
		"z":       "z",
	} {
		fork, err := workflow.Fork(t.Context(), db.Owner, id, step)
		if want == "" {
			if err == nil {
				t.Errorf("%s is no step by itself, and there is a fork from it", step)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		if out, err := await(t, db, w, fork); err != nil || out != 3 {
			t.Errorf("%s: %d, %v", step, out, err)
		}
		if got := dbtest.Get[string](db, `select string_agg(what, ' ' order by what) from public.effect where run = $1`, fork); got != want {
			t.Errorf("a fork from %s ran %s, want %s", step, got, want)
		}
		if got := journal(t, db, fork); got != whole {
			t.Errorf("a fork from %s has the journal %s, want %s", step, got, whole)
		}
	}
}
