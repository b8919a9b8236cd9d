package consume

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// guard is the savepoint of a batch's transaction. There is one at a time: it stands after the last handlers that went well.
const guard = "nexus_batch"

// A commit by a handler would give the rows of an express batch free before they are settled. It fails, since Postgres runs
// the query of this cursor then. Under leases the rows are not free, and a cursor would hold back vacuum for as long as the
// handlers take.
const (
	refuseCommitSQL = `declare nexus_unsettled no scroll cursor with hold for select core.refuse_commit()`
	allowCommitSQL  = `close nexus_unsettled`
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

// batchAsk says what a batch shall hold. A lease of zero means express.
type batchAsk struct {
	Ask
	atLeast int
	within  string
	lease   string
}

func (s *Deliveries) batchArgs(a batchAsk) []any {
	var express *int64 // any number
	var within, lease *string
	if a.lease == "" {
		express, within = new(int64), &a.within
	} else {
		lease = &a.lease
	}
	return []any{s.Queue, a.Types, a.MaxAttempts, a.Limit, a.atLeast, a.Floor, a.Window, a.Sweep, express, within, lease, a.Alone}
}

// lockBatch locks a batch in the transaction on conn and sets the guard behind the locks.
func (s *Deliveries) lockBatch(ctx context.Context, conn *pgx.Conn, a batchAsk) (Found, error) {
	b := &pgx.Batch{}
	b.Queue(claimBatchSQL, s.batchArgs(a)...)
	b.Queue("savepoint " + guard)
	answers := conn.SendBatch(ctx, b)
	rows, _ := answers.Query() // rows carry the error
	found, err := s.read(rows, nil, 1)
	if closeErr := answers.Close(); err == nil {
		err = closeErr
	}
	return found, db.Error(ctx, "claim_batch", err)
}

// leaseBatch leases a batch.
func (s *Deliveries) leaseBatch(ctx context.Context, a batchAsk) (Found, error) {
	rows, _ := s.Pool.Query(ctx, claimBatchSQL, s.batchArgs(a)...)
	found, err := s.read(rows, nil, 0)
	return found, db.Error(ctx, "claim_batch", err)
}

// openExpress marks a batch as in hand, unless the consumer has to use leases. backend is what its transaction runs in.
func (s *Deliveries) openExpress(ctx context.Context, xact int64, batch []*delivery, floor int64, backend uint32) (marker int64, leases bool, err error) {
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

func (s *Deliveries) closeExpress(ctx context.Context, marker int64) error {
	return db.Do(ctx, s.Pool, "close_express", closeExpressCall, s.Queue, marker)
}

// recallExpress takes back the mark of a batch, if there is one, by the transaction that openExpress was given.
func (s *Deliveries) recallExpress(ctx context.Context, xact int64) error {
	return db.Do(ctx, s.Pool, "recall_express", recallExpressCall, s.Queue, s.Node(), xact)
}

// leaseThese leases exactly the messages of a batch that was locked, and returns those it got.
func (s *Deliveries) leaseThese(ctx context.Context, batch []*delivery, lease string) ([]*delivery, error) {
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
	var got []*delivery
	for _, m := range batch {
		if r, ok := read[m.msgID]; ok {
			m.readCt, m.readAt = r.ct, r.at
			got = append(got, m)
		}
	}
	return got, nil
}

// commitBatch settles a batch and commits, in one round trip. marker is nil under leases.
func (s *Deliveries) commitBatch(ctx context.Context, t *invoke.Tx, marker *int64, results []work.Result) ([]work.Outcome, error) {
	args := s.settleArgs(results)
	var outcomes []work.Outcome
	err := t.Finish(ctx, "settle_batch", func(b *pgx.Batch) {
		if marker != nil {
			b.Queue(allowCommitSQL)
		}
		b.Queue(settleBatchSQL, append([]any{args[0], args[1], marker}, args[2:]...)...).Query(func(rows pgx.Rows) (err error) {
			outcomes, err = s.outcomes(rows, results)
			return err
		})
	})
	return outcomes, err
}

func fences(batch []*delivery) (ids []int64, cts []int32) {
	ids, cts = make([]int64, len(batch)), make([]int32, len(batch))
	for i, m := range batch {
		ids[i], cts[i] = m.msgID, m.readCt
	}
	return ids, cts
}
