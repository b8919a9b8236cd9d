package workflow

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Unfit is a run that could not go on.
type Unfit struct {
	Run     uuid.UUID
	Version int    // of the definition that it runs by
	Begun   int    // how many of the outermost steps were begun
	Step    string // the first of these that is not there any more, is of another shape, or stands elsewhere
}

// Check says which unfinished runs of a namespace this form of the workflow could not go on with, 1,000 of them at most, without
// registering it: for the moment before a deploy. None means that nodes may be replaced.
func (w *Workflow[In, Out]) Check(ctx context.Context, q nexus.DBTX, ns nexus.Namespace) ([]Unfit, error) {
	const op = "unfit_runs"
	steps, err := w.flow.compiled()
	if err != nil {
		return nil, err
	}
	var (
		runs, names     []string
		versions, begun []int
	)
	err = db.Call(ctx, q, op, `select coalesce(pg_catalog.array_agg(run_id::text order by n), '{}'), coalesce(pg_catalog.array_agg(version order by n), '{}'),
			coalesce(pg_catalog.array_agg(begun order by n), '{}'), coalesce(pg_catalog.array_agg(step order by n), '{}')
		from core.unfit_runs($1::text, $2::text, $3::text::jsonb) with ordinality r(run_id, version, begun, step, n)`,
		[]any{string(ns), w.flow.name, steps}, &runs, &versions, &begun, &names)
	if err != nil {
		return nil, err
	}
	unfit := make([]Unfit, len(runs))
	for i := range unfit {
		unfit[i] = Unfit{Version: versions[i], Begun: begun[i], Step: names[i]}
		if unfit[i].Run, err = uuid.Parse(runs[i]); err != nil {
			return nil, fmt.Errorf("%s: run_id: %w", op, err)
		}
	}
	return unfit, nil
}
