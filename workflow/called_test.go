package workflow_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// Commits that call somebody go one after the other, so nobody is to call a node that has enough to do.
func TestStartsThatComeFastCallNobody(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[int, int]("fast")
	workflow.Step(w, "a", func(_ context.Context, r *workflow.Run[int]) (int, error) { return r.Input, nil })
	start(t, db, node.Config{Poll: time.Hour}, w)
	const up = "coalesce((select max(waiting_until) > core.now() from core_private.wake_flags where key = core_private.workflow_key('shop')), false)"
	db.Wait("select " + up)
	var enough atomic.Bool
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for !enough.Load() && !t.Failed() {
				if _, _, err := w.Start(t.Context(), db.Pool, "shop", 1, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer starters.Wait()
	defer enough.Store(true)
	db.Wait("select not " + up)
}
