package pgmqueue

import (
	"context"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/work"
)

// guard is the savepoint of a batch's transaction. There is one at a time: it stands after the last handlers that went well.
const guard = "nexus_batch"

// A commit by a handler would give the rows of an express batch free before they are settled. It fails, since Postgres runs
// the query of this cursor then. Under leases the rows are not free, and a cursor would hold back vacuum for as long as the
// handlers take.
const (
	refuseCommitSQL = `declare nexus_unsettled no scroll cursor with hold for select core_node.refuse_commit()`
	allowCommitSQL  = `close nexus_unsettled`
)

const (
	claimBatchSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to, ` + readAt + `
from core_node.claim_batch($1::text, $2::text[], $3::int[], $4::int, $5::int, $6::bigint, $7::int, $8::bool, $9::bigint, $10::text::interval, $11::text::interval, $12::bool, $13::bigint[])`

	openExpressSQL = `select leases, marker_id from core_node.open_express($1::text, $2::text, $3::bigint, $4::bigint[], $5::bigint, $6::int)`

	closeExpressCall = `core_node.close_express($1::text, $2::bigint)`

	recallExpressCall = `core_node.recall_express($1::text, $2::text, array[$3::bigint])`

	claimTheseSQL = `select msg_id, read_ct, ` + readAt + ` from core_node.claim_these($1::text, $2::bigint[], $3::int[], $4::text::interval)`

	settleBatchSQL = `select outcome, msg_id
from core_node.settle_batch($1::text, $2::text, $3::bigint, $4::bigint[], $5::int[], $6::timestamptz[], $7::text::jsonb)`
)

func (s *Deliveries) batchArgs(at look, limit time.Duration) []any {
	var express *int64 // any number
	var within, lease *string
	if limit > 0 {
		text := db.Interval(limit)
		express, within = new(int64), &text
	} else {
		text := db.Interval(at.want.Lease)
		lease = &text
	}
	w := at.want
	return []any{s.Queue, w.Types, w.MaxAttempts, w.Limit, max(w.AtLeast, 1), at.floor, at.window, at.sweep, express, within, lease, w.Alone, at.floors}
}

// Lease implements [batch.Source].
func (s *Deliveries) Lease(ctx context.Context, want work.Want) (work.Got, error) {
	at := s.look(&want, want.Limit+want.Held, false)
	rows, _ := s.Pool.Query(ctx, claimBatchSQL, s.batchArgs(at, 0)...)
	found, err := s.read(rows, nil, 0)
	found.lone = want.Alone && found.alone > 0
	return s.learn(at, found, db.Error(ctx, "claim_batch", err))
}

// LeaseThese implements [batch.Source]: it leases exactly the messages of a batch that was locked, and returns those it got.
func (s *Deliveries) LeaseThese(ctx context.Context, batch []work.Item, lease time.Duration) ([]work.Item, error) {
	ids, cts := fences(batch)
	rows, _ := s.Pool.Query(ctx, claimTheseSQL, s.Queue, ids, cts, db.Interval(lease))
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
	var got []work.Item
	for _, it := range batch {
		m := it.(*delivery)
		if r, ok := read[m.msgID]; ok {
			m.readCt, m.readAt = r.ct, r.at
			got = append(got, m)
		}
	}
	return got, nil
}

func fences(batch []work.Item) (ids []int64, cts []int32) {
	ids, cts = make([]int64, len(batch)), make([]int32, len(batch))
	for i, it := range batch {
		m := it.(*delivery)
		ids[i], cts[i] = m.msgID, m.readCt
	}
	return ids, cts
}
