package nexustest

import (
	"context"
	"sync"

	"github.com/nexuspg/nexus/internal/work"
)

// faults are the steps that are to fail, by workflow and key.
type faults struct {
	mu   sync.Mutex
	left map[[2]string]*fault
}

type fault struct {
	err   error
	times int
}

// FailStep has the next calls of a step's code, so many of them, return err without being run; [nexus.Reject] among the errors ends the attempts. key is the
// step's in the journal: "charge", "poll#3" of the third turn of a loop, "reserve~undo" for the compensation. The test fails where some of them
// never came.
func (e *Env) FailStep(workflow, key string, err error, times int) {
	e.t.Helper()
	e.faults.mu.Lock()
	defer e.faults.mu.Unlock()
	if e.faults.left == nil {
		e.faults.left = map[[2]string]*fault{}
		e.t.Cleanup(e.unfailed)
	}
	e.faults.left[[2]string{workflow, key}] = &fault{err: err, times: times}
}

// unfailed tells of steps that were to fail and did not.
func (e *Env) unfailed() {
	e.faults.mu.Lock()
	defer e.faults.mu.Unlock()
	for at, f := range e.faults.left {
		if f.times > 0 {
			e.t.Errorf("step %s of workflow %s was to fail %d more times, and was not called", at[1], at[0], f.times)
		}
	}
}

// failing is ctx with the faults.
func (e *Env) failing(ctx context.Context) context.Context {
	return work.WithFault(ctx, func(workflow, key string) error {
		e.faults.mu.Lock()
		defer e.faults.mu.Unlock()
		f := e.faults.left[[2]string{workflow, key}]
		if f == nil || f.times == 0 {
			return nil
		}
		f.times--
		return f.err
	})
}
