package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// stepsARun is how many steps a run of a workflow has here, that return a little.
const stepsARun = 10

// steps runs so many runs at once, of steps that do nothing, and is how many steps are done in a second.
func (b *bench) steps(slots int, tx bool) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := b.Exec(ctx, "truncate core_private.workflow_runs, core_private.workflow_cursors, core_private.workflow_journal, core_private.workflow_signals",
			"checkpoint"); err != nil {
			return 0, err
		}
		var done atomic.Int64
		w := workflow.New[struct{}, string]("bench")
		w.Slots = slots
		for i := range stepsARun {
			name := fmt.Sprintf("s%d", i)
			if tx {
				workflow.TxStep(w, name, func(context.Context, pgx.Tx, *workflow.Run[struct{}]) (string, error) { done.Add(1); return "xx", nil })
			} else {
				workflow.Step(w, name, func(context.Context, *workflow.Run[struct{}]) (string, error) { done.Add(1); return "xx", nil })
			}
		}
		n := node.New(b.Pool, node.Config{Namespace: namespace, Logger: quiet()})
		n.Add(w)
		if _, err := n.Work(ctx, 1); err != nil { // registers it
			return 0, err
		}
		runs := b.events / stepsARun
		if err := b.Exec(ctx, fmt.Sprintf("select core.start_workflow('%s', 'bench', '{}') from generate_series(1, %d)", namespace, runs),
			"vacuum analyze core_private.workflow_cursors", "vacuum analyze core_private.workflow_runs"); err != nil {
			return 0, err
		}
		running, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- n.Run(running) }()
		for done.Load() < int64(runs*stepsARun) {
			select {
			case err := <-ended:
				return 0, err
			case <-time.After(time.Millisecond):
			}
		}
		rate := float64(runs*stepsARun) / time.Since(began).Seconds()
		stop()
		return rate, <-ended
	}
}
