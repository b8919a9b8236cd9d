package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/nexuspg/nexus"
)

// Result is what was counted: DeadLettered and Replayed, those of webhooks, in the ledger, all else in the business tables.
type Result struct {
	Emitted      int64 // webhooks received
	Handled      int64 // of them, those with an effect
	DeadLettered int64 // dead letters that were not replayed
	Replayed     int64
	Lost         int64 // received, without an effect, and nobody gave it up
	Doubled      int64 // effects beyond the first of each, and effects of what was never received

	sums []int64 // of the aggregates by type, by repository and by sender
}

// ErrWrong says that the demo showed a fault of Nexus.
var ErrWrong = errors.New("the counts are wrong")

func (r *Result) String() string {
	return fmt.Sprintf("demo: emitted=%d handled=%d dead_lettered=%d replayed=%d lost=%d doubled=%d",
		r.Emitted, r.Handled, r.DeadLettered, r.Replayed, r.Lost, r.Doubled)
}

// faults are what does not add up.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// err is nil if there are none.
func (f *faults) err() error {
	if len(*f) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWrong, errors.Join(*f...))
}

func (r *Result) judge() error {
	var found faults
	if r.Lost != 0 {
		found.add("%d webhooks have no effect", r.Lost)
	}
	if r.Doubled != 0 {
		found.add("%d effects are too many", r.Doubled)
	}
	if r.Emitted != r.Handled+r.DeadLettered {
		found.add("%d handled and %d dead-lettered are not the %d emitted", r.Handled, r.DeadLettered, r.Emitted)
	}
	if want := int64(1); r.Replayed != want {
		found.add("%d dead letters were replayed, not %d", r.Replayed, want)
	}
	for _, sum := range r.sums {
		if sum != r.Handled+r.Doubled {
			found.add("the aggregates add up to %d, the rows behind them are %d", r.sums, r.Handled+r.Doubled)
			break
		}
	}
	return found.err()
}

func count(ctx context.Context, db nexus.DBTX) (*Result, error) {
	r := &Result{}
	err := db.QueryRow(ctx, `
		with effect as (
			select r.event_uid, r.given_up, exists (select from demo.handled h where h.event_uid = r.event_uid) as done from demo.received r)
		select count(*),
		       count(*) filter (where done),
		       (select count(*) from core.dead_letters where namespace = $1 and event_type ^@ 'github.' and resolution is distinct from 'replayed'),
		       (select count(*) from core.dead_letters where namespace = $1 and event_type ^@ 'github.' and resolution = 'replayed'),
		       count(*) filter (where not done and not given_up),
		       (select count(*) from demo.handled) - count(*) filter (where done),
		       array[(select coalesce(sum(events), 0)::bigint from demo.by_type),
		             (select coalesce(sum(events), 0)::bigint from demo.by_repository),
		             (select coalesce(sum(events), 0)::bigint from demo.by_sender)]
		  from effect`, namespace).
		Scan(&r.Emitted, &r.Handled, &r.DeadLettered, &r.Replayed, &r.Lost, &r.Doubled, &r.sums)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	return r, nil
}
