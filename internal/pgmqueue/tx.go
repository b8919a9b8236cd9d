package pgmqueue

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// Tx is a transaction of handlers, with what settles deliveries in it. It implements [engine.SharedTx].
type Tx struct {
	*invoke.Tx
	from   *Deliveries
	limit  time.Duration // of express; 0: the items are leased
	xact   int64         // express: its number
	marker *int64        // express: of the mark, nil before
}

// Begin implements [consume.Source].
func (s *Deliveries) Begin(ctx context.Context) (engine.Tx, error) {
	tx, err := invoke.Begin(ctx, s.Handlers, s.Session, false, "")
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, from: s}, nil
}

// BeginShared implements [batch.Source].
func (s *Deliveries) BeginShared(ctx context.Context) (engine.SharedTx, error) {
	tx, err := invoke.Begin(ctx, s.Handlers, s.Session, false, "savepoint "+guard)
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, from: s}, nil
}

// BeginExpress implements [batch.Source].
func (s *Deliveries) BeginExpress(ctx context.Context, limit time.Duration) (engine.SharedTx, error) {
	tx, err := invoke.Begin(ctx, s.Handlers, s.Session, true, refuseCommitSQL)
	if err != nil {
		if stat := s.Handlers.Stat(); stat.AcquiredConns() >= stat.MaxConns() {
			err = fmt.Errorf("%w: %w", engine.ErrNoRoom, err)
		}
		return nil, err
	}
	return &Tx{Tx: tx, from: s, limit: limit}, nil
}

// Ack implements [engine.Tx].
func (t *Tx) Ack(ctx context.Context, it work.Item) error {
	return t.Tx.Commit(ctx, func(b *pgx.Batch) { b.Queue("select "+ackCall, it.(*delivery).ackArgs()...) })
}

// Commit implements [engine.SharedTx], in one round trip.
func (t *Tx) Commit(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	args, err := t.from.settleArgs(results)
	if err != nil {
		return nil, err
	}
	var outcomes []work.Outcome
	err = t.Finish(ctx, "settle_batch", func(b *pgx.Batch) {
		if t.marker != nil {
			b.Queue(allowCommitSQL)
		}
		b.Queue(settleBatchSQL, append([]any{args[0], args[1], t.marker}, args[2:]...)...).Query(func(rows pgx.Rows) (err error) {
			outcomes, err = t.from.outcomes(rows, results)
			return err
		})
	})
	return outcomes, err
}

// Sever implements [engine.Tx].
func (t *Tx) Sever() { invoke.Sever(t.Conn()) }

// Changed implements [engine.SharedTx].
func (t *Tx) Changed() bool { return t.Dirty }

// Lasting implements [engine.SharedTx].
func (t *Tx) Lasting() bool { return t.Tx.Lasting }

// Keep implements [engine.SharedTx].
func (t *Tx) Keep(ctx context.Context) error {
	sql := "release savepoint " + guard
	if t.Dirty {
		sql += "; " + t.Between(t.limit)
		t.Dirty = false
	}
	return t.Exec(ctx, sql+"; savepoint "+guard)
}

// Undo implements [engine.SharedTx].
func (t *Tx) Undo(ctx context.Context) error {
	t.Dirty = false // undone as well
	return t.Exec(ctx, "rollback to savepoint "+guard)
}

// Mark implements [engine.SharedTx].
func (t *Tx) Mark(ctx context.Context, items []work.Item) (leases bool, err error) {
	s := t.from
	ids, _ := fences(items)
	backend := t.Conn().PgConn().PID()
	pid := &backend
	if backend > math.MaxInt32 {
		pid = nil // a pooler's own number
	}
	s.mu.Lock()
	from := s.markers.from
	s.mu.Unlock()
	var id *int64
	err = db.Call(ctx, s.Pool, "open_express", openExpressSQL, []any{s.Queue, s.Node(), t.xact, ids, from, pid}, &leases, &id)
	if err != nil || leases {
		return leases, err
	}
	t.marker = id
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, now := &s.markers, time.Now(); now.Sub(m.at) > 2*t.limit+10*time.Second {
		m.from, m.recent, m.at = m.recent, *id, now
	}
	return false, nil
}

// Unmark implements [engine.SharedTx].
func (t *Tx) Unmark(ctx context.Context) error {
	return db.Do(ctx, t.from.Pool, "close_express", closeExpressCall, t.from.Queue, t.marker)
}

// Recall implements [engine.SharedTx]. It takes back the mark by the transaction that Mark was for.
func (t *Tx) Recall(ctx context.Context) error {
	return db.Do(ctx, t.from.Pool, "recall_express", recallExpressCall, t.from.Queue, t.from.Node(), t.xact)
}

// Lock implements [engine.SharedTx].
func (t *Tx) Lock(ctx context.Context, want work.Want) (work.Got, error) {
	s, conn := t.from, t.Conn()
	// What other batches hold is in the way, since rows that are locked are looked at all the same.
	at := s.look(&want, want.Limit+want.Held, false)
	b := &pgx.Batch{}
	b.Queue(claimBatchSQL, s.batchArgs(at, t.limit)...)
	b.Queue("savepoint " + guard)
	answers := conn.SendBatch(ctx, b)
	rows, _ := answers.Query() // rows carry the error
	found, err := s.read(rows, nil, 1)
	if closeErr := answers.Close(); err == nil {
		err = closeErr
	}
	t.xact = found.xact
	got, err := s.learn(at, found, db.Error(ctx, "claim_batch", err))
	if len(got.Items) > 0 {
		t.CausedBy(slices.MaxFunc(got.Items, func(a, b work.Item) int { return a.Delivery().Depth - b.Delivery().Depth }).Delivery())
	}
	if len(got.Items) == 0 && got.Buried > 0 {
		_, _ = conn.Exec(ctx, allowCommitSQL+"; commit") // if that fails they are buried another time
	}
	return got, err
}
