package pgmqueue

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// Guard is the savepoint of a batch's transaction. There is one at a time: it stands after the last handlers that went well.
const Guard = "nexus_batch"

// A commit by a handler would give the rows of an express batch free before they are settled. It fails, since Postgres runs
// the query of this cursor then. Under leases the rows are not free, and a cursor would hold back vacuum for as long as the
// handlers take.
const (
	RefuseCommitSQL = `declare nexus_unsettled no scroll cursor with hold for select core.refuse_commit()`
	AllowCommitSQL  = `close nexus_unsettled`
)

const (
	claimBatchSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to, ` + readAt + `
from core.claim_batch($1::text, $2::text[], $3::int[], $4::int, $5::int, $6::bigint, $7::int, $8::bool, $9::bigint, $10::text::interval, $11::text::interval, $12::bool)`

	openExpressSQL = `select leases, marker_id from core.open_express($1::text, $2::text, $3::bigint, $4::bigint[], $5::bigint, $6::int)`

	closeExpressCall = `core.close_express($1::text, $2::bigint)`

	recallExpressCall = `core.recall_express($1::text, $2::text, array[$3::bigint])`

	claimTheseSQL = `select msg_id, read_ct, ` + readAt + ` from core.claim_these($1::text, $2::bigint[], $3::int[], $4::text::interval)`

	settleBatchSQL = `select outcome, msg_id
from core.settle_batch($1::text, $2::text, $3::bigint, $4::bigint[], $5::int[], $6::timestamptz[], $7::bigint[], $8::int[], $9::timestamptz[],
  $10::text[], $11::text[]::interval[], $12::text[]::jsonb[], $13::text[], $14::text[])`
)

// BatchAsk says what a batch shall hold. A lease of zero means express.
type BatchAsk struct {
	Ask
	AtLeast int
	Within  string
	Lease   string
}

func (s *Deliveries) batchArgs(a BatchAsk) []any {
	var express *int64 // any number
	var within, lease *string
	if a.Lease == "" {
		express, within = new(int64), &a.Within
	} else {
		lease = &a.Lease
	}
	return []any{s.Queue, a.Types, a.MaxAttempts, a.Limit, a.AtLeast, a.Floor, a.Window, a.Sweep, express, within, lease, a.Alone}
}

// LockBatch locks a batch in the transaction on conn and sets the guard behind the locks.
func (s *Deliveries) LockBatch(ctx context.Context, conn *pgx.Conn, a BatchAsk) (Found, error) {
	b := &pgx.Batch{}
	b.Queue(claimBatchSQL, s.batchArgs(a)...)
	b.Queue("savepoint " + Guard)
	answers := conn.SendBatch(ctx, b)
	rows, _ := answers.Query() // rows carry the error
	found, err := s.read(rows, nil, 1)
	if closeErr := answers.Close(); err == nil {
		err = closeErr
	}
	return found, db.Error(ctx, "claim_batch", err)
}

// LeaseBatch leases a batch.
func (s *Deliveries) LeaseBatch(ctx context.Context, a BatchAsk) (Found, error) {
	rows, _ := s.Pool.Query(ctx, claimBatchSQL, s.batchArgs(a)...)
	found, err := s.read(rows, nil, 0)
	return found, db.Error(ctx, "claim_batch", err)
}

// OpenExpress marks a batch as in hand, unless the consumer has to use leases. backend is what its transaction runs in.
func (s *Deliveries) OpenExpress(ctx context.Context, xact int64, batch []*Delivery, floor int64, backend uint32) (marker int64, leases bool, err error) {
	ids, _ := fences(batch)
	var id *int64
	pid := &backend
	if backend > math.MaxInt32 {
		pid = nil // a pooler's own number
	}
	err = db.Call(ctx, s.Pool, "open_express", openExpressSQL, []any{s.Queue, s.Node(), xact, ids, floor, pid}, &leases, &id)
	if id != nil {
		marker = *id
	}
	return marker, leases, err
}

// CloseExpress takes the mark of a batch back.
func (s *Deliveries) CloseExpress(ctx context.Context, marker int64) error {
	return db.Do(ctx, s.Pool, "close_express", closeExpressCall, s.Queue, marker)
}

// RecallExpress takes back the mark of a batch, if there is one, by the transaction that OpenExpress was given.
func (s *Deliveries) RecallExpress(ctx context.Context, xact int64) error {
	return db.Do(ctx, s.Pool, "recall_express", recallExpressCall, s.Queue, s.Node(), xact)
}

// LeaseThese leases exactly the messages of a batch that was locked, and returns those it got.
func (s *Deliveries) LeaseThese(ctx context.Context, batch []*Delivery, lease string) ([]*Delivery, error) {
	ids, cts := fences(batch)
	rows, _ := s.Pool.Query(ctx, claimTheseSQL, s.Queue, ids, cts, lease)
	defer rows.Close()
	type reading struct {
		ct int32
		at int64
	}
	read := map[int64]reading{}
	for rows.Next() {
		var id int64
		var r reading
		if err := rows.Scan(&id, &r.ct, &r.at); err != nil {
			return nil, db.Error(ctx, "claim_these", err)
		}
		read[id] = r
	}
	if err := rows.Err(); err != nil {
		return nil, db.Error(ctx, "claim_these", err)
	}
	var got []*Delivery
	for _, m := range batch {
		if r, ok := read[m.msgID]; ok {
			m.readCt, m.readAt = r.ct, r.at
			got = append(got, m)
		}
	}
	return got, nil
}

// CommitBatch settles a batch and commits, in one round trip. marker is nil under leases.
func (s *Deliveries) CommitBatch(ctx context.Context, t *invoke.Tx, marker *int64, results []work.Result) ([]work.Outcome, error) {
	args := s.settleArgs(results)
	var outcomes []work.Outcome
	err := t.Finish(ctx, "settle_batch", func(b *pgx.Batch) {
		if marker != nil {
			b.Queue(AllowCommitSQL)
		}
		b.Queue(settleBatchSQL, append([]any{args[0], args[1], marker}, args[2:]...)...).Query(func(rows pgx.Rows) (err error) {
			outcomes, err = s.outcomes(rows, results)
			return err
		})
	})
	return outcomes, err
}

func fences(batch []*Delivery) (ids []int64, cts []int32) {
	ids, cts = make([]int64, len(batch)), make([]int32, len(batch))
	for i, m := range batch {
		ids[i], cts[i] = m.msgID, m.readCt
	}
	return ids, cts
}
