package ordered

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// errNoExpress answers what engines of ordered consumers do not ask.
var errNoExpress = errors.New("an ordered consumer has no express")

// guard is the savepoint of a batch's transaction. There is one at a time: it stands after the last handlers that went well.
const guard = "nexus_batch"

// tx is a transaction of handlers, with what settles their events in it. It implements [engine.SharedTx].
type tx struct {
	*invoke.Tx
	from *Source
}

// Begin implements [consume.Source].
func (s *Source) Begin(ctx context.Context) (engine.Tx, error) { return s.begin(ctx, "") }

// BeginShared implements [batch.Source].
func (s *Source) BeginShared(ctx context.Context) (engine.SharedTx, error) {
	return s.begin(ctx, "savepoint "+guard)
}

func (s *Source) begin(ctx context.Context, also string) (*tx, error) {
	t, err := invoke.Begin(ctx, s.Handlers, s.Session, false, also)
	if err != nil {
		return nil, err
	}
	return &tx{t, s}, nil
}

// BeginExpress implements [batch.Source].
func (s *Source) BeginExpress(context.Context, time.Duration) (engine.SharedTx, error) {
	return nil, errNoExpress
}

// Ack implements [engine.Tx].
func (t *tx) Ack(ctx context.Context, it work.Item) error {
	text, err := verdicts([]work.Result{{Item: it}})
	if err != nil {
		return err
	}
	err = t.Tx.Commit(ctx, func(b *pgx.Batch) { b.Queue(settleSQL, t.from.Node(), text, "true") })
	if err == nil {
		t.from.Freed()
	}
	return err
}

// Commit implements [engine.SharedTx], in one round trip.
func (t *tx) Commit(ctx context.Context, results []work.Result) (outcomes []work.Outcome, err error) {
	text, err := verdicts(results)
	if err != nil {
		return nil, err
	}
	err = t.Finish(ctx, "settle_ordered", func(b *pgx.Batch) {
		b.Queue(settleSQL, t.from.Node(), text, "true").Query(func(rows pgx.Rows) (err error) {
			outcomes, err = outcomesOf(rows, results)
			return err
		})
	})
	if err == nil {
		t.from.Freed()
	}
	return outcomes, err
}

// Sever implements [engine.Tx].
func (t *tx) Sever() { invoke.Sever(t.Conn()) }

// Changed implements [engine.SharedTx].
func (t *tx) Changed() bool { return t.Dirty }

// Lasting implements [engine.SharedTx].
func (t *tx) Lasting() bool { return t.Tx.Lasting }

// Keep implements [engine.SharedTx].
func (t *tx) Keep(ctx context.Context) error {
	sql := "release savepoint " + guard
	if t.Dirty {
		sql += "; " + t.Between(0)
		t.Dirty = false
	}
	return t.Exec(ctx, sql+"; savepoint "+guard)
}

// Undo implements [engine.SharedTx].
func (t *tx) Undo(ctx context.Context) error {
	t.Dirty = false // undone as well
	return t.Exec(ctx, "rollback to savepoint "+guard)
}

// Lock implements [engine.SharedTx].
func (t *tx) Lock(context.Context, work.Want) (work.Got, error) { return work.Got{}, errNoExpress }

// Mark implements [engine.SharedTx].
func (t *tx) Mark(context.Context, []work.Item) (leases bool, err error) { return true, errNoExpress }

// Unmark implements [engine.SharedTx].
func (t *tx) Unmark(context.Context) error { return nil }

// Recall implements [engine.SharedTx].
func (t *tx) Recall(context.Context) error { return nil }
