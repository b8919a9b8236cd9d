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

// empty is what steps return here, where it is about steps.
const empty = "xx"

// steps runs so many runs at once, of steps that do nothing but return something, and is how many steps are done in a second.
func (b *bench) steps(slots int, tx bool, returns string) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := b.Exec(ctx, noRuns, "checkpoint"); err != nil {
			return 0, err
		}
		var done atomic.Int64
		w := workflow.New[struct{}, string]("bench")
		w.Slots = slots
		for i := range stepsARun {
			name := fmt.Sprintf("s%d", i)
			if tx {
				workflow.TxStep(w, name, func(context.Context, pgx.Tx, *workflow.Run[struct{}]) (string, error) {
					done.Add(1)
					return returns, nil
				})
			} else {
				workflow.Step(w, name, func(context.Context, *workflow.Run[struct{}]) (string, error) { done.Add(1); return returns, nil })
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

// due has so many runs due at once, and is how many a node claims in a second, by claims of 1,000.
func (b *bench) due(ctx context.Context) (float64, error) {
	def, err := b.register(ctx)
	if err != nil {
		return 0, err
	}
	if err := b.Exec(ctx, fmt.Sprintf("select core.start_workflow('%s', 'bench', '{}') from generate_series(1, %d)", namespace, b.events),
		"vacuum analyze core_private.workflow_cursors"); err != nil {
		return 0, err
	}
	began, claimed := time.Now(), 0
	for claimed < b.events {
		var n int
		if err := b.Pool.QueryRow(ctx, "select count(*) from core_node.claim_runs($1, array[$2::bigint], 'bench', 1000, '10 min')", namespace, def).Scan(&n); err != nil {
			return 0, err
		}
		if n == 0 {
			return 0, fmt.Errorf("%d of %d runs were due", claimed, b.events)
		}
		claimed += n
	}
	return float64(claimed) / time.Since(began).Seconds(), nil
}

// starts starts runs, one after the other on each connection.
func (b *bench) starts(conns int) rig.Way {
	start := b.emit(`select * from core.start_workflow('bench', 'bench', $1::text::jsonb)`, conns)
	return func(ctx context.Context) (float64, error) {
		if _, err := b.register(ctx); err != nil {
			return 0, err
		}
		return start(ctx)
	}
}

// register has a workflow of one step and no runs, and is its number.
func (b *bench) register(ctx context.Context) (def int64, err error) {
	if err := b.Exec(ctx, noRuns, "checkpoint"); err != nil {
		return 0, err
	}
	err = b.Owner.QueryRow(ctx, `select core_node.register_workflow($1, 'bench', 1, '[{"name": "s", "kind": "step"}]')`, namespace).Scan(&def)
	return def, err
}

// noRuns empties what runs are kept in.
const noRuns = "truncate core_private.workflow_runs, core_private.workflow_cursors, core_private.workflow_journal, core_private.workflow_signals"
