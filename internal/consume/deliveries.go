package consume

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Deliveries is the source of an unordered consumer: its pgmq queue. The fence is (msg_id, read_ct).
type Deliveries struct {
	Pool        *pgxpool.Pool // the node's own
	Namespace   nexus.Namespace
	Consumer    string
	Queue       string                // the physical name
	Node        func() string         // settles in its name
	MaxAttempts func(kind string) int // shown to handlers, by event type
}

type delivery struct {
	d      nexus.Delivery
	readCt int32
	due    time.Time // of a retry, a release or a delay; zero for what was due when it was emitted
	begun  bool      // of a batch: its handlers were called
}

func (m *delivery) Delivery() *nexus.Delivery { return &m.d }

// Due is when the delivery could have been taken at the earliest, as far as is known; of a message sent by hand nothing is.
func (m *delivery) Due() time.Time {
	if m.due.IsZero() && m.d.Attempt == 1 {
		return m.d.EmittedAt
	}
	return m.due
}

// Key returns the queue's name.
func (s *Deliveries) Key() string { return s.Queue }

const (
	claimSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to
from core.claim($1::text, $2::text[], $3::int[], $4::int, $5::text::interval, $6::bigint, $7::int, $8::bool)`

	settleSQL = `select outcome, msg_id
from core.settle($1::text, $2::text, $3::bigint[], $4::int[], $5::bigint[], $6::int[], $7::text[], $8::text[]::interval[],
  $9::text[]::jsonb[], $10::text[], $11::text[])`

	settleAndClaimSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to
from core.settle_and_claim($1::text, $2::text, $3::bigint[], $4::int[], $5::bigint[], $6::int[], $7::text[],
  $8::text[]::interval[], $9::text[]::jsonb[], $10::text[], $11::text[],
  $12::text[], $13::int[], $14::int, $15::text::interval, $16::bigint, $17::int, $18::bool)`

	extendSQL = `select msg_id from core.extend($1::text, $2::bigint[], $3::int[], $4::text::interval)`

	ackSQL = `select core.ack($1::text, $2::text, $3::bigint, $4::int)`
)

// Claim implements [Source].
func (s *Deliveries) Claim(ctx context.Context, results []Result, ask Ask, lease time.Duration) (Found, error) {
	claim := []any{ask.Types, ask.MaxAttempts, ask.Limit, db.Interval(lease), ask.Floor, ask.Window, ask.Sweep}
	var rows pgx.Rows
	if len(results) == 0 {
		rows, _ = s.Pool.Query(ctx, claimSQL, append([]any{s.Queue}, claim...)...) // rows carry the error
	} else {
		rows, _ = s.Pool.Query(ctx, settleAndClaimSQL, append(s.settleArgs(results), claim...)...)
	}
	found, err := s.read(rows, results, 0)
	return found, db.Error(ctx, "claim", err)
}

// read reads what a claim found; begun is that of delivery.
func (s *Deliveries) read(rows pgx.Rows, results []Result, begun int32) (Found, error) {
	defer rows.Close()
	var f Found
	var items []*delivery
	var (
		outcome          string
		msgID, scannedTo *int64
		readCt           *int32
		message, headers []byte
	)
	for rows.Next() {
		message, headers = nil, nil
		if err := rows.Scan(&outcome, &msgID, &readCt, &message, &headers, &scannedTo); err != nil {
			return Found{}, err
		}
		switch outcome {
		case "claimed":
			items = append(items, s.delivery(*msgID, *readCt, begun, message, headers))
			f.Bytes = max(f.Bytes, len(message))
		case "buried":
			// The same word answers a result that was buried by this exchange.
			if it := itemOf(results, *msgID); it != nil {
				f.Outcomes = append(f.Outcomes, Outcome{it, Buried})
			} else {
				f.Buried++
			}
		case "window":
			if scannedTo != nil {
				f.ScannedTo = *scannedTo
			}
			if readCt != nil {
				f.Looked = int(*readCt)
			}
		case "few":
			f.Few = int(*readCt)
		case "alone":
			f.Alone = int(*readCt)
		case "quiet":
			f.Quiet = true
		default:
			if it := itemOf(results, *msgID); it != nil {
				f.Outcomes = append(f.Outcomes, Outcome{it, OutcomeKind(outcome)})
			}
		}
	}
	if err := rows.Err(); err != nil {
		return Found{}, err
	}
	slices.SortFunc(items, func(a, b *delivery) int { return cmp.Compare(a.d.MessageID, b.d.MessageID) })
	f.Items = make([]Item, len(items))
	for i, m := range items {
		f.Items[i] = m
	}
	if n := len(items); n > 0 {
		f.Lowest, f.Highest = items[0].d.MessageID, items[n-1].d.MessageID
	}
	return f, nil
}

// delivery reads a message; begun is 1 if its read_ct does not count the attempt that begins.
func (s *Deliveries) delivery(msgID int64, readCt, begun int32, message, headers []byte) *delivery {
	m := &delivery{readCt: readCt}
	decodeEvent(message, &m.d.Event)
	m.d.Headers, m.d.Deferrals, m.due = decodeHeaders(headers)
	if m.d.Deferrals >= int(readCt+begun) {
		m.d.Deferrals = 0 // each one follows a read: this count was sent by hand
	}
	if m.d.Namespace == "" {
		m.d.Namespace = s.Namespace
	}
	m.d.Consumer = s.Consumer
	m.d.MessageID = msgID
	m.d.Attempt = int(readCt+begun) - m.d.Deferrals
	m.d.MaxAttempts = s.MaxAttempts(m.d.Type)
	return m
}

// Settle implements [Source].
func (s *Deliveries) Settle(ctx context.Context, results []Result) ([]Outcome, error) {
	rows, _ := s.Pool.Query(ctx, settleSQL, s.settleArgs(results)...)
	outcomes, err := s.outcomes(rows, results)
	return outcomes, db.Error(ctx, "settle", err)
}

func (s *Deliveries) outcomes(rows pgx.Rows, results []Result) ([]Outcome, error) {
	defer rows.Close()
	var outcomes []Outcome
	for rows.Next() {
		var kind string
		var msgID int64
		if err := rows.Scan(&kind, &msgID); err != nil {
			return nil, err
		}
		if it := itemOf(results, msgID); it != nil {
			outcomes = append(outcomes, Outcome{it, OutcomeKind(kind)})
		}
	}
	return outcomes, rows.Err()
}

func byMessage(a, b Item) int {
	return cmp.Compare(a.(*delivery).d.MessageID, b.(*delivery).d.MessageID)
}

// settleArgs are the first eleven arguments of settle and settle_and_claim. It sorts results.
func (s *Deliveries) settleArgs(results []Result) []any {
	slices.SortFunc(results, func(a, b Result) int { return byMessage(a.Item, b.Item) })
	ackIDs, ackCts := make([]int64, 0, len(results)), make([]int32, 0, len(results))
	ids, cts := []int64{}, []int32{}
	actions, reasons, texts := []string{}, []string{}, []string{}
	afters, policies := []*string{}, []*string{}
	for i := range results {
		r := &results[i]
		m := r.Item.(*delivery)
		if r.Action == Ack {
			ackIDs, ackCts = append(ackIDs, m.d.MessageID), append(ackCts, m.readCt)
			continue
		}
		ids, cts = append(ids, m.d.MessageID), append(cts, m.readCt)
		actions = append(actions, r.Action.String())
		var after, policy *string
		if r.Exact || r.Action == Release {
			a := db.Interval(r.After)
			after = &a
		}
		if r.Policy != "" {
			policy = &r.Policy
		}
		afters, policies = append(afters, after), append(policies, policy)
		reasons = append(reasons, r.Reason)
		texts = append(texts, r.Error)
	}
	return []any{s.Queue, s.Node(), ackIDs, ackCts, ids, cts, actions, afters, policies, reasons, texts}
}

// itemOf finds the item of a message among results. Answers are rare, so a search is cheaper than an index.
func itemOf(results []Result, msgID int64) Item {
	for i := range results {
		if m := results[i].Item.(*delivery); m.d.MessageID == msgID {
			return m
		}
	}
	return nil
}

// Extend implements [Source].
func (s *Deliveries) Extend(ctx context.Context, items []Item, lease time.Duration) ([]Item, error) {
	// One order of locking for all who touch several messages, or they deadlock.
	items = slices.SortedFunc(slices.Values(items), byMessage)
	ids, cts := make([]int64, len(items)), make([]int32, len(items))
	for i, it := range items {
		m := it.(*delivery)
		ids[i], cts[i] = m.d.MessageID, m.readCt
	}
	rows, _ := s.Pool.Query(ctx, extendSQL, s.Queue, ids, cts, db.Interval(lease))
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, db.Error(ctx, "extend", err)
	}
	var lost []Item
	for i, id := range ids {
		if slices.Contains(gone, id) {
			lost = append(lost, items[i])
		}
	}
	return lost, nil
}

// QueueAck implements [Source].
func (s *Deliveries) QueueAck(b *pgx.Batch, it Item) {
	m := it.(*delivery)
	b.Queue(ackSQL, string(s.Namespace), s.Consumer, m.d.MessageID, m.readCt)
}
