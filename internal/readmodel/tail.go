package readmodel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
)

// Tail follows the log by transactions, not by ids or times: both are given out before the commit, in an order that is not that of
// commits. What is new was written by a transaction that was running at the last look or began since. Of the former some may
// have been seen in the meantime, so what was shown of them is remembered. (Postgres could tell by the snapshot alone, but for
// what was emitted below a savepoint.)
//
// Where to look is bounded by ids. A transaction draws its own id before those of its events, so what was not yet running at a
// look will have event ids above all that could be seen then. The floor is therefore the highest id that was seen when the
// oldest transaction that is still running had not begun.
type Tail struct {
	Pool interface {
		Querier
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
		BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
	}
	Namespace string    // "": all that the caller may see
	Type      string    // an event type or a pattern; "": all
	Since     time.Time // zero: what is committed from the first look on

	begun    bool
	snapshot string          // of the last look
	oldest   int64           // the oldest transaction that was running then
	seen     map[int64]int64 // events shown since it began, each with its transaction
	marks    []mark
}

// mark is how far ids had come when the next transaction was to be xmax.
type mark struct{ xmax, id int64 }

const (
	tailPage = 500

	// openFor is how far back events of transactions are looked for that were open at the beginning.
	openFor = 15 * time.Minute
)

// writer is the whole id of the transaction that wrote row l. The row holds its low half; the next id to be given out, $1, tells
// the other one.
const writer = `cross join lateral (select l.xmin::text::int8 + ($1::int8 >> 32 << 32) as x) low
	cross join lateral (select case when low.x >= $1::int8 then low.x - (1::int8 << 32) else low.x end as xid) tx`

// begin finds the first floor, once. Without Since all that can be seen now counts as shown.
func (t *Tail) begin(ctx context.Context) error {
	if t.begun {
		return nil
	}
	from := t.Since
	if from.IsZero() {
		from = time.Now().Add(-openFor)
	}
	tx, err := t.Pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return db.Error(ctx, "tail", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var xmin, xmax, floor int64
	// "+ 0" keeps the planner from walking the whole log in the order of ids.
	err = db.Call(ctx, tx, "tail", `select pg_catalog.pg_snapshot_xmin(s.s)::text::int8, pg_catalog.pg_snapshot_xmax(s.s)::text::int8,
		coalesce((select pg_catalog.min(event_id + 0) - 1 from core.event_log where emitted_at >= $1::timestamptz),
		         (select event_id from core.event_log order by event_id desc limit 1), 0)
		from pg_catalog.pg_current_snapshot() s(s)`, []any{from}, &xmin, &xmax, &floor)
	if err != nil {
		return err
	}
	t.seen, t.marks = map[int64]int64{}, []mark{{0, floor}}
	if t.Since.IsZero() {
		t.oldest = xmin
		rows, err := tx.Query(ctx, `select l.event_id, tx.xid from core.event_log l `+writer+`
			where l.event_id > $2::int8 and tx.xid >= $3::int8`, xmax, floor, xmin)
		if err != nil {
			return db.Error(ctx, "tail", err)
		}
		var id, xid int64
		_, err = pgx.ForEachRow(rows, []any{&id, &xid}, func() error {
			t.seen[id] = xid
			return nil
		})
		if err != nil {
			return db.Error(ctx, "tail", err)
		}
	}
	t.begun = true
	return nil
}

// Look hands over what has been committed since the last look, in the order of ids, and ends with the first error of each. After an error
// of the database it may be called again, and goes on from there.
func (t *Tail) Look(ctx context.Context, each func(Record) error) error {
	if err := t.begin(ctx); err != nil {
		return err
	}
	var (
		snapshot         string
		xmin, xmax, high int64
	)
	err := db.Call(ctx, t.Pool, "tail", `select s.s::text, pg_catalog.pg_snapshot_xmin(s.s)::text::int8, pg_catalog.pg_snapshot_xmax(s.s)::text::int8,
		coalesce((select event_id from core.event_log order by event_id desc limit 1), 0)
		from pg_catalog.pg_current_snapshot() s(s)`, nil, &snapshot, &xmin, &xmax, &high)
	if err != nil {
		return err
	}
	if snapshot == t.snapshot {
		return nil
	}
	for cursor := t.marks[0].id; ; {
		n, last, err := t.page(ctx, cursor, each)
		if err != nil {
			return err
		}
		if n < tailPage {
			break
		}
		cursor = last
	}
	// What was shown of transactions that had ended at the snapshot will not be read again.
	t.snapshot, t.oldest = snapshot, xmin
	maps.DeleteFunc(t.seen, func(_, xid int64) bool { return xid < xmin })
	t.marks = append(t.marks, mark{xmax, high})
	// The newest mark that no running transaction is older than.
	keep := 0
	for i, m := range t.marks {
		if m.xmax <= xmin {
			keep = i
		}
	}
	t.marks = t.marks[keep:]
	return nil
}

// page hands over the next events in the order of their ids, and says how many and which was the last.
func (t *Tail) page(ctx context.Context, after int64, each func(Record) error) (n int, last int64, err error) {
	type event struct {
		id, xid int64
		record  Record
	}
	seen := slices.Collect(maps.Keys(t.seen))
	args := []any{after, t.oldest, seen, t.Namespace, nil, tailPage}
	if !t.Since.IsZero() {
		args[4] = t.Since
	}
	ofType, typed := typeCondition("l.event_type", t.Type)
	if ofType != "" {
		args = append(args, typed)
		ofType = fmt.Sprintf(" and "+ofType, len(args))
	}
	rows, err := t.Pool.Query(ctx, `select e.event_id, e.xid, pg_catalog.to_json(e)::text from (
		select l.event_id, l.emitted_at, l.namespace, l.event_type, l.payload, l.event_uid, l.producer_node_id, l.correlation_id, l.tags, tx.xid
		  from core.event_log l
		 cross join lateral (select pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::int8 as xmax) next
		 `+strings.ReplaceAll(writer, "$1::int8", "next.xmax")+`
		 where l.event_id > $1::int8 and tx.xid >= $2::int8 and l.event_id <> all (coalesce($3::int8[], '{}'))
		   and ($4::text = '' or l.namespace = $4::text)
		   and l.emitted_at >= coalesce($5::timestamptz, '-infinity')`+ofType+`
		 order by l.event_id
		 limit $6::int) e`, args...)
	if err != nil {
		return 0, 0, db.Error(ctx, "tail", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e event, err error) {
		var text string
		if err = row.Scan(&e.id, &e.xid, &text); err != nil {
			return e, err
		}
		e.record, err = Parse([]byte(text))
		return e, err
	})
	if err != nil {
		return 0, 0, db.Error(ctx, "tail", err)
	}
	for _, e := range events {
		if err := each(e.record.WithoutLast()); err != nil { // the last column is the transaction
			return 0, 0, err
		}
		t.seen[e.id], last = e.xid, e.id
	}
	return len(events), last, nil
}
