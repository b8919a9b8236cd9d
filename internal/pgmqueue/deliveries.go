package pgmqueue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/envelope"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// Deliveries is the source of an unordered consumer for one engine: its pgmq queue. The fence is (msg_id, read_ct, last_read_at).
type Deliveries struct {
	Pool        *pgxpool.Pool   // the node's own
	Handlers    *pgxpool.Pool   // of the transactions of handlers
	Session     *invoke.Session // of its connections
	Namespace   nexus.Namespace
	Consumer    string
	Queue       string                // the physical name
	Node        func() string         // settles in its name
	MaxAttempts func(kind string) int // shown to handlers, by what work.KindOf says

	mu      sync.Mutex
	walk    walk
	markers markers
}

// delivery is a message in hand. What fences it is its own: of what handlers get, nothing is read back.
type delivery struct {
	d       nexus.Delivery // the node's own, see work.Item
	from    *Deliveries
	msgID   int64
	readCt  int32
	readAt  int64       // last_read_at, in microseconds since 1970; 0 of what express only locks
	alone   bool        // may have killed a process, and was claimed for that
	ours    bool        // its handlers run in a transaction of the node's, which settles it
	acked   atomic.Bool // see Acked
	replyTo uuid.UUID   // of a request
	due     time.Time   // of a retry, a release or a delay; zero for what was due when it was emitted
}

// Delivery implements [work.Item].
func (m *delivery) Delivery() *nexus.Delivery { return &m.d }

func (m *delivery) at() time.Time { return time.UnixMicro(m.readAt).UTC() }

// Handed implements [work.Item].
func (m *delivery) Handed(leased bool) *nexus.Delivery {
	if !leased && !m.ours {
		m.ours = true
	}
	return work.Copy(m.d, m)
}

// Alone implements [work.Item].
func (m *delivery) Alone() bool { return m.alone }

// Acked implements [work.Item].
func (m *delivery) Acked() bool { return m.acked.Load() }

// boundTo is the delivery that a handler was given as d, nil for one made by hand.
func boundTo(d *nexus.Delivery) *delivery {
	if d == nil {
		return nil
	}
	m, _ := nexus.Bound(d).(*delivery)
	return m
}

// AckIn settles d, as a leased handler was given it, in the transaction that q points to. Whether that commits is not known here: if
// the message turns out to be gone that is what was meant, and if it is still there what the handler returns counts as usual.
func AckIn(ctx context.Context, q nexus.DBTX, d *nexus.Delivery) error {
	if err := db.Given("ack", q); err != nil {
		return err
	}
	// A delivery of another source knows by itself how it is settled.
	if d != nil {
		if other, ok := nexus.Bound(d).(interface {
			AckIn(ctx context.Context, q nexus.DBTX) error
		}); ok {
			return other.AckIn(ctx, q)
		}
	}
	m := boundTo(d)
	switch {
	case m == nil:
		return &nexus.Error{
			Op: "ack", Code: nexus.CodeArgumentValue, Field: "d", Message: "this delivery was not given to a handler by a node, or was overwritten since",
			Hint: "give the one that the handler was called with",
		}
	case m.ours:
		return work.SettledByNode()
	}
	if err := db.Do(ctx, q, "ack", ackCall, m.ackArgs()...); err != nil {
		return err
	}
	m.acked.Store(true)
	return nil
}

// Due is when the delivery could have been taken at the earliest, as far as is known; of a message sent by hand nothing is.
func (m *delivery) Due() time.Time {
	if m.due.IsZero() && m.d.Attempt == 1 {
		return m.d.EmittedAt
	}
	return m.due
}

// Key returns the queue's name.
func (s *Deliveries) Key() string { return s.Queue }

// readAt reads last_read_at as a number, which a role's DateStyle does not touch.
const readAt = `(pg_catalog.date_part('epoch', last_read_at) operator(pg_catalog.*) 1000000)::pg_catalog.int8`

const (
	claimSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to, ` + readAt + `
from core_node.claim($1::text, $2::text[], $3::int[], $4::int, $5::text::interval, $6::bigint, $7::int, $8::bool, $9::bool, $10::bigint[])`

	settleSQL = `select outcome, msg_id
from core_node.settle($1::text, $2::text, $3::bigint[], $4::int[], $5::timestamptz[], $6::text::jsonb)`

	settleAndClaimSQL = `select outcome, msg_id, read_ct, message, headers, scanned_to, ` + readAt + `
from core_node.settle_and_claim($1::text, $2::text, $3::bigint[], $4::int[], $5::timestamptz[], $6::text::jsonb,
  $7::text[], $8::int[], $9::int, $10::text::interval, $11::bigint, $12::int, $13::bool, $14::bool, $15::bigint[])`

	extendSQL = `select msg_id from core_node.extend($1::text, $2::bigint[], $3::int[], $4::timestamptz[], $5::text::interval)`

	ackCall = `core.ack($1::text, $2::text, $3::bigint, $4::int, $5::text::timestamptz)`
)

// Claim implements [consume.Source].
func (s *Deliveries) Claim(ctx context.Context, results []work.Result, want work.Want) (work.Got, error) {
	at := s.look(&want, want.Limit, 2*want.Held < want.Limit)
	claim := []any{want.Types, want.MaxAttempts, want.Limit, db.Interval(want.Lease), at.floor, at.window, at.sweep, want.Alone, at.floors}
	var rows pgx.Rows
	if len(results) == 0 {
		rows, _ = s.Pool.Query(ctx, claimSQL, append([]any{s.Queue}, claim...)...) // rows carry the error
	} else {
		args, err := s.settleArgs(results)
		if err != nil {
			return s.learn(at, seen{}, err) // a sweep that was not sent is not under way
		}
		rows, _ = s.Pool.Query(ctx, settleAndClaimSQL, append(args, claim...)...)
	}
	found, err := s.read(rows, results, 0)
	return s.learn(at, found, db.Error(ctx, "claim", err))
}

// look says where a claim looks, see walk.
func (s *Deliveries) look(want *work.Want, spread int, lone bool) look {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.walk.begin(time.Now(), want, spread, lone)
}

// learn makes of what a claim has seen what the engine got.
func (s *Deliveries) learn(at look, found seen, err error) (work.Got, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.walk.failed(at)
		return work.Got{}, err
	}
	found.More = s.walk.end(time.Now(), at, &found)
	found.Alone = found.alone > 0
	return found.Got, nil
}

// TurnFree implements [engine.Source].
func (s *Deliveries) TurnFree() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk.back()
}

// GaveBack implements [batch.Source].
func (s *Deliveries) GaveBack(items []work.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk.lower("", slices.MinFunc(items, byMessage).(*delivery).msgID)
}

// read reads what a claim found; begun is that of delivery.
func (s *Deliveries) read(rows pgx.Rows, results []work.Result, begun int32) (seen, error) {
	defer rows.Close()
	var f seen
	var items []*delivery
	var (
		outcome          string
		msgID, scannedTo *int64
		readAt           *int64
		readCt           *int32
		message, headers []byte
	)
	for rows.Next() {
		message, headers = nil, nil
		if err := rows.Scan(&outcome, &msgID, &readCt, &message, &headers, &scannedTo, &readAt); err != nil {
			return seen{}, err
		}
		switch outcome {
		case "claimed":
			items = append(items, s.delivery(*msgID, *readCt, readAt, begun, message, headers))
			f.Bytes = max(f.Bytes, len(message))
		case "buried":
			// The same word answers a result that was buried by this exchange.
			if it, why := itemOf(results, *msgID); it != nil {
				f.Outcomes = append(f.Outcomes, work.Outcome{Item: it, Kind: work.Buried, Reason: why})
			} else {
				f.Buried++
				f.buried[levelOf(*msgID)]++
			}
		case "window":
			if scannedTo != nil {
				f.scannedTo = *scannedTo
			}
			if readCt != nil {
				f.looked = int(*readCt)
			}
			f.levels, _ = strconv.Atoi(string(headers)) // none: nobody looked
			if msgID != nil {
				f.xact = *msgID
			}
		case "few":
			f.Few = true
		case "alone":
			f.alone = int(*readCt)
			if msgID != nil {
				f.leftAlone = *msgID
			}
		case "level":
			w := window{looked: int(*readCt)}
			if scannedTo != nil {
				w.scannedTo = *scannedTo
			}
			f.windows = append(f.windows, w)
		case "quiet":
			f.Quiet = true
		case "limited":
			f.limited, f.granted = true, int(*readCt)
			if message != nil {
				f.HeldBack = work.Hold(bytes.Trim(message, `"`))
			}
			if scannedTo != nil {
				f.HeldFor = max(time.Duration(*scannedTo)*time.Microsecond, time.Millisecond)
			}
		default:
			if it, why := itemOf(results, *msgID); it != nil {
				f.Outcomes = append(f.Outcomes, work.Outcome{Item: it, Kind: work.OutcomeKind(outcome), Reason: why})
			}
		}
	}
	if err := rows.Err(); err != nil {
		return seen{}, err
	}
	slices.SortFunc(items, func(a, b *delivery) int { return cmp.Compare(a.msgID, b.msgID) })
	f.Items = make([]work.Item, len(items))
	for i, m := range items {
		f.Items[i] = m
	}
	if n := len(items); n > 0 {
		f.lowest, f.highest = items[0].msgID, items[n-1].msgID
	}
	return f, nil
}

// delivery reads a message; begun is 1 if its read_ct does not count the attempt that begins.
func (s *Deliveries) delivery(msgID int64, readCt int32, readAt *int64, begun int32, message, headers []byte) *delivery {
	m := &delivery{from: s, msgID: msgID, readCt: readCt}
	if readAt != nil {
		m.readAt = *readAt
	}
	m.d.Target = envelope.Decode(message, &m.d.Event)
	m.replyTo = replyTo(s.Consumer, message)
	var alone int
	m.d.Headers, m.d.Deferrals, alone, m.due = envelope.Headers(headers)
	m.alone = alone > 0 && alone == int(readCt)
	if m.d.Deferrals >= int(readCt+begun) {
		m.d.Deferrals = 0 // each one follows a read: this count was sent by hand
	}
	if m.d.Namespace == "" {
		m.d.Namespace = s.Namespace
	}
	m.d.Consumer = s.Consumer
	m.d.MessageID = msgID
	m.d.Attempt = int(readCt+begun) - m.d.Deferrals
	if m.d.MaxAttempts = envelope.MaxAttempts(headers); m.d.MaxAttempts == 0 {
		m.d.MaxAttempts = s.MaxAttempts(work.KindOf(&m.d))
	}
	return m
}

// Settle implements [engine.Source].
func (s *Deliveries) Settle(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	args, err := s.settleArgs(results)
	if err != nil {
		return nil, err
	}
	rows, _ := s.Pool.Query(ctx, settleSQL, args...)
	outcomes, err := s.outcomes(rows, results)
	return outcomes, db.Error(ctx, "settle", err)
}

func (s *Deliveries) outcomes(rows pgx.Rows, results []work.Result) ([]work.Outcome, error) {
	defer rows.Close()
	var outcomes []work.Outcome
	for rows.Next() {
		var kind string
		var msgID int64
		if err := rows.Scan(&kind, &msgID); err != nil {
			return nil, err
		}
		if it, why := itemOf(results, msgID); it != nil {
			outcomes = append(outcomes, work.Outcome{Item: it, Kind: work.OutcomeKind(kind), Reason: why})
		}
	}
	return outcomes, rows.Err()
}

func byMessage(a, b work.Item) int {
	return cmp.Compare(a.(*delivery).msgID, b.(*delivery).msgID)
}

// verdict is a result other than an ack, as core_node.settle reads it.
type verdict struct {
	ID     int64           `json:"id"`
	Ct     int32           `json:"ct"`
	At     time.Time       `json:"at"`
	Action string          `json:"action"`
	After  string          `json:"after,omitempty"`
	Policy json.RawMessage `json:"policy,omitempty"`
	Reason string          `json:"reason"`
	Error  string          `json:"error"`
}

// settleArgs are the first six arguments of settle and settle_and_claim. It sorts results.
func (s *Deliveries) settleArgs(results []work.Result) ([]any, error) {
	slices.SortFunc(results, func(a, b work.Result) int { return byMessage(a.Item, b.Item) })
	ackIDs, ackCts := make([]int64, 0, len(results)), make([]int32, 0, len(results))
	ackAts := make([]time.Time, 0, len(results))
	var failed []verdict
	for i := range results {
		r := &results[i]
		m := r.Item.(*delivery)
		if r.Action == work.Ack {
			ackIDs, ackCts, ackAts = append(ackIDs, m.msgID), append(ackCts, m.readCt), append(ackAts, m.at())
			continue
		}
		v := verdict{ID: m.msgID, Ct: m.readCt, At: m.at(), Action: r.Action.String(), Policy: json.RawMessage(r.Policy), Reason: r.Reason, Error: r.Error}
		if r.Exact || r.Action == work.Release {
			v.After = db.Interval(r.After)
		}
		failed = append(failed, v)
	}
	rest := "[]"
	if len(failed) > 0 {
		text, err := json.Marshal(failed)
		if err != nil {
			return nil, err
		}
		rest = string(text)
	}
	return []any{s.Queue, s.Node(), ackIDs, ackCts, ackAts, rest}, nil
}

// itemOf finds the item of a message among results. Answers are rare, so a search is cheaper than an index.
func itemOf(results []work.Result, msgID int64) (it work.Item, reason string) {
	for i := range results {
		if m := results[i].Item.(*delivery); m.msgID == msgID {
			return m, results[i].Reason
		}
	}
	return nil, ""
}

// Extend implements [engine.Source].
func (s *Deliveries) Extend(ctx context.Context, items []work.Item, lease time.Duration) ([]work.Item, error) {
	// One order of locking for all who touch several messages, or they deadlock.
	items = slices.SortedFunc(slices.Values(items), byMessage)
	ids, cts, ats := make([]int64, len(items)), make([]int32, len(items)), make([]time.Time, len(items))
	for i, it := range items {
		m := it.(*delivery)
		ids[i], cts[i], ats[i] = m.msgID, m.readCt, m.at()
	}
	rows, _ := s.Pool.Query(ctx, extendSQL, s.Queue, ids, cts, ats, db.Interval(lease))
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		err = db.Error(ctx, "extend", err)
		if feed.Dropped(err) {
			return items, nil
		}
		return nil, err
	}
	var lost []work.Item
	for i, id := range ids {
		if slices.Contains(gone, id) {
			lost = append(lost, items[i])
		}
	}
	return lost, nil
}

func (m *delivery) ackArgs() []any {
	return []any{string(m.from.Namespace), m.from.Consumer, m.msgID, m.readCt, db.Time(m.at())}
}

// markers say from where on to look for the marks of those that died. What is older than any batch can be was looked at often enough; the
// sweep of the tick goes on looking.
type markers struct {
	from   int64
	recent int64 // one of this node's
	at     time.Time
}
