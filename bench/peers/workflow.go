package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// stepsARun are so many that the start of a run is not what is measured.
const stepsARun = 100

// runs are more than can be done in the time.
const runs = 5000

// steps works runs of stepsARun steps that do nothing, so many at once, and is how many steps are done in a second.
func steps(r *rig.Rig, atOnce int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := r.Exec(ctx, "truncate core_private.workflow_runs, core_private.workflow_cursors, core_private.workflow_journal, core_private.workflow_signals",
			"checkpoint"); err != nil {
			return 0, err
		}
		var done atomic.Int64
		w := workflow.New[struct{}, string]("bench")
		w.Slots = atOnce
		for i := range stepsARun {
			workflow.Step(w, fmt.Sprintf("s%d", i), func(context.Context, *workflow.Run[struct{}]) (string, error) { done.Add(1); return "xx", nil })
		}
		n := node.New(r.Pool, node.Config{Namespace: namespace, Logger: quiet()})
		n.Add(w)
		if _, err := n.Work(ctx, 1); err != nil { // registers it
			return 0, err
		}
		if err := r.Exec(ctx, fmt.Sprintf("select core.start_workflow('%s', 'bench', '{}') from generate_series(1, %d)", namespace, runs),
			"vacuum analyze core_private.workflow_cursors", "vacuum analyze core_private.workflow_runs"); err != nil {
			return 0, err
		}
		running, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- n.Run(running) }()
		for done.Load() < runs*stepsARun && time.Since(began) < r.Time {
			select {
			case err := <-ended:
				return 0, err
			case <-time.After(time.Millisecond):
			}
		}
		rate := float64(done.Load()) / time.Since(began).Seconds()
		stop()
		return rate, <-ended
	}
}
