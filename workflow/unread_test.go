package workflow_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// holds: W1 (runs that cannot be claimed together)
// A run whose journal no value can hold keeps neither its node nor other runs from going on. It fails by name, and is undone. At full size this takes
// gigabytes, so else a trigger raises what Postgres would.
func TestARunThatIsTooLargeToClaim(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	long := os.Getenv("NEXUS_TEST_LONG") != ""
	var undone atomic.Int32
	w := workflow.New[int, int]("w")
	workflow.Step(w, "a", func(context.Context, *workflow.Run[int]) (int, error) { return 7, nil }).
		Compensate(func(_ context.Context, _ *workflow.Run[int], result int) error {
			undone.Add(int32(result))
			return nil
		})
	workflow.WaitForSignal[int](w, "go", 0)
	b := workflow.Step(w, "b", func(_ context.Context, r *workflow.Run[int]) (int, error) { return r.Input, nil })
	w.Returns(func(r *workflow.Run[int]) (int, error) { return b.Result(r), nil })
	start(t, db, node.Config{}, w)
	large, small := begin(t, db, w, 1, nil), begin(t, db, w, 2, nil)
	db.Wait(`select count(*) = 2 from core_private.workflow_cursors where state = 'W'`)
	if long {
		db.Exec(`insert into core_private.workflow_journal (run_id, key, ord, status, result)
			select $1, 'x#' || i, array[9, i], 'c', to_jsonb(repeat('x', 30000000)) from generate_series(1, 10) i`, large)
	} else {
		db.Exec(`create function public.too_large() returns trigger language plpgsql as
			$$ begin raise exception using errcode = '54000', message = 'total size of jsonb object elements exceeds the maximum'; end $$`)
		db.Exec(`create trigger too_large before update on core_private.workflow_cursors for each row
			when (new.run_id = '` + large.String() + `' and new.epoch > old.epoch and new.plain_bytes > 0) execute function public.too_large()`)
	}
	for _, id := range [...]string{large.String(), small.String()} {
		db.Exec(`select core.signal_workflow($1, 'go', '1')`, id)
	}
	if got, err := await(t, db, w, small); err != nil || got != 2 {
		t.Errorf("the other run: %d, %v", got, err)
	}
	got, err := await(t, db, w, large)
	if !long {
		if err != nil || got != 1 {
			t.Errorf("the run that is read by itself: %d, %v", got, err)
		}
		return
	}
	e, failed := errors.AsType[*workflow.RunError](err)
	if !failed || e.Step != "b" || e.Reason != "result" || undone.Load() != 7 {
		t.Errorf("the large run: %v, undone %d", err, undone.Load())
	}
}
