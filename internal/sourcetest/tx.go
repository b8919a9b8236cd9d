package sourcetest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/work"
)

// Tx is a transaction of a Memory. Handlers get none: what they are called with is nil.
type Tx struct {
	s       *Memory
	express bool
	marked  bool
	severed atomic.Bool
	over    atomic.Bool
}

func (s *Memory) begin(ctx context.Context, express bool) (*Tx, error) {
	if err := s.fault(ctx, "begin", nil); err != nil {
		return nil, err
	}
	return &Tx{s: s, express: express}, nil
}

// Begin implements [consume.Source].
func (s *Memory) Begin(ctx context.Context) (engine.Tx, error) { return s.begin(ctx, false) }

// BeginShared implements [batch.Source].
func (s *Memory) BeginShared(ctx context.Context) (engine.SharedTx, error) {
	return s.begin(ctx, false)
}

// BeginExpress implements [batch.Source].
func (s *Memory) BeginExpress(ctx context.Context, _ time.Duration) (engine.SharedTx, error) {
	return s.begin(ctx, true)
}

// Lend implements [handlers.Lender].
func (t *Tx) Lend() (pgx.Tx, func()) { return nil, func() {} }

// Lock implements [engine.SharedTx].
func (t *Tx) Lock(ctx context.Context, want work.Want) (got work.Got, err error) {
	if err := t.s.fault(ctx, "claim", nil); err != nil {
		return work.Got{}, err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.take(&got, want, t, false)
	return got, nil
}

// Mark implements [engine.SharedTx].
func (t *Tx) Mark(ctx context.Context, _ []work.Item) (leases bool, err error) {
	if err := t.s.fault(ctx, "mark", nil); err != nil {
		return false, err
	}
	t.mark(true)
	return false, nil
}

func (t *Tx) mark(on bool) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	switch {
	case on && !t.marked:
		t.s.marked++
	case !on && t.marked:
		t.s.marked--
	}
	t.marked = on
}

// Unmark implements [engine.SharedTx].
func (t *Tx) Unmark(context.Context) error { t.mark(false); return nil }

// Recall implements [engine.SharedTx].
func (t *Tx) Recall(context.Context) error { t.mark(false); return nil }

// Keep implements [engine.SharedTx].
func (t *Tx) Keep(context.Context) error { return nil }

// Undo implements [engine.SharedTx].
func (t *Tx) Undo(context.Context) error { return nil }

// Ack implements [engine.Tx].
func (t *Tx) Ack(ctx context.Context, it work.Item) error {
	_, err := t.Commit(ctx, []work.Result{{Item: it}})
	return err
}

// Commit implements [engine.SharedTx].
func (t *Tx) Commit(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	if err := t.s.fault(ctx, "commit", results); err != nil {
		return nil, err
	}
	t.s.mu.Lock()
	for _, r := range results {
		it := r.Item.(*item)
		if m := t.s.messages[it.m.id]; m == nil || m.reads != it.reads {
			t.s.mu.Unlock()
			return nil, nexus.ErrLeaseLost
		}
	}
	outcomes := t.s.settle(results)
	t.s.mu.Unlock()
	t.mark(false)
	t.Close(ctx)
	return outcomes, nil
}

// Close implements [engine.Tx].
func (t *Tx) Close(context.Context) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	for _, m := range t.s.messages {
		if m.locked == t {
			m.locked = nil
		}
	}
	t.over.Store(true)
}

// Sever implements [engine.Tx].
func (t *Tx) Sever() {
	t.severed.Store(true)
	t.Close(context.Background())
}

// Discard implements [engine.Tx].
func (t *Tx) Discard() { t.Close(context.Background()) }

// Ended implements [engine.Tx].
func (t *Tx) Ended() bool { return false }

// Broken implements [engine.Tx].
func (t *Tx) Broken(error) bool { return t.severed.Load() }

// Lost implements [engine.SharedTx].
func (t *Tx) Lost() bool { return t.severed.Load() }

// Fault implements [engine.SharedTx].
func (t *Tx) Fault() error { return nil }

// Forgive implements [engine.SharedTx].
func (t *Tx) Forgive() {}

// Changed implements [engine.SharedTx].
func (t *Tx) Changed() bool { return false }

// Lasting implements [engine.SharedTx].
func (t *Tx) Lasting() bool { return t.s.Lasting.Load() }

// Outlived implements [engine.SharedTx].
func (t *Tx) Outlived() bool { return false }
