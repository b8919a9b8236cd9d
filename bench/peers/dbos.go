package main

import (
	"context"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/bench/internal/rig"
)

// dbosSteps has DBOS run so many workflows at once, each of stepsARun steps that do nothing, and is how many steps are done in a second. A
// workflow runs in the process that starts it, without a queue, which is the fastest way that DBOS has.
func dbosSteps(r *rig.Rig, atOnce int) rig.Way {
	return func(ctx context.Context) (rate float64, err error) {
		if err := r.Exec(ctx, "drop schema if exists dbos cascade", "checkpoint"); err != nil {
			return 0, err
		}
		cfg := r.Owner.Config() // it makes its schema itself
		cfg.MaxConns = r.Pool.Config().MaxConns
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			return 0, err
		}
		defer pool.Close()
		d, err := dbos.NewContext(ctx, dbos.Config{AppName: "bench", SystemDBPool: pool, Logger: quiet()})
		if err != nil {
			return 0, err
		}
		dbos.RegisterWorkflow(d, dbosWorkflow)
		if err := dbos.Launch(d); err != nil {
			return 0, err
		}
		defer dbos.Shutdown(d, time.Second)
		return r.Repeat(atOnce, stepsARun, func() error {
			run, err := dbos.RunWorkflow(d, dbosWorkflow, "")
			if err != nil {
				return err
			}
			_, err = run.GetResult()
			return err
		})
	}
}

func dbosWorkflow(ctx dbos.Context, _ string) (string, error) {
	for range stepsARun {
		if _, err := dbos.RunAsStep(ctx, func(context.Context) (string, error) { return "xx", nil }); err != nil {
			return "", err
		}
	}
	return "", nil
}
