// Package broadcast is the source of a node's broadcasts. The database knows by a cursor what the node has read, and hands out one event at a time: the
// transaction of its handlers moves the cursor.
//
// The fence is the node with a mark of this process and the number of the turn. So a process that has taken the node's id over, or a claim whose
// answer was lost, leaves what was handed out before without effect.
package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/envelope"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// Source is the source of the broadcasts of a node. Its engine has one item at a time, see [engine.Config].
type Source struct {
	Pool        *pgxpool.Pool   // the node's own
	Handlers    *pgxpool.Pool   // of the transactions of handlers
	Session     *invoke.Session // of its connections
	Namespace   nexus.Namespace
	Node        func() string
	Incarnation func() uuid.UUID
	Holder      uuid.UUID // this process, as long as it runs the node
	Log         *slog.Logger

	mu   sync.Mutex
	last struct { // result that was answered, since it may be sent again
		turn int64
		kind string
	}
}

// Key names the wake-ups for broadcasts of a namespace.
func Key(ns nexus.Namespace) string { return "broadcasts:" + string(ns) }

// Key implements [engine.Source].
func (s *Source) Key() string { return Key(s.Namespace) }

// delivery is a broadcast in hand.
type delivery struct {
	d     nexus.Delivery // the node's own, see work.Item
	from  *Source
	node  string
	turn  int64
	ours  bool        // its handlers run in a transaction of the node's, which settles it
	acked atomic.Bool // see Acked
	due   time.Time
}

// Delivery implements [work.Item].
func (m *delivery) Delivery() *nexus.Delivery { return &m.d }

// Handed implements [work.Item].
func (m *delivery) Handed(leased bool) *nexus.Delivery {
	if !leased && !m.ours {
		m.ours = true
	}
	return work.Copy(m.d, m)
}

// Alone implements [work.Item].
func (m *delivery) Alone() bool { return false }

// Acked implements [work.Item].
func (m *delivery) Acked() bool { return m.acked.Load() }

// Due implements [work.Item].
func (m *delivery) Due() time.Time { return m.due }

func (m *delivery) fence() []any { return []any{m.node, m.from.Holder.String(), m.turn} }

// AckIn settles it in the transaction that q points to. Whether that commits is not known here.
func (m *delivery) AckIn(ctx context.Context, q nexus.DBTX) error {
	if m.ours {
		return work.SettledByNode()
	}
	if err := db.Do(ctx, q, "ack", ackCall, m.fence()...); err != nil {
		return err
	}
	m.acked.Store(true)
	return nil
}

const (
	claimSQL = `select outcome, broadcast_id, turn, message, headers, attempt, deferrals, due_at, max_attempts, detail
from core_node.claim_broadcast($1::text, $2::text::uuid, $3::text::uuid, $4::text[], $5::int[])`

	ackCall   = `core_node.ack_broadcast($1::text, $2::text::uuid, $3::bigint)`
	settleSQL = `select outcome from core_node.settle_broadcast($1::text, $2::text::uuid, $3::bigint, $4::text::jsonb)`
	holdsSQL  = `select core_node.holds_broadcast($1::text, $2::text::uuid, $3::bigint)`
)

// Claim implements [consume.Source].
func (s *Source) Claim(ctx context.Context, results []work.Result, want work.Want) (got work.Got, err error) {
	if got.Outcomes, err = s.Settle(ctx, results); err != nil {
		return work.Got{}, err
	}
	node := s.Node()
	rows, _ := s.Pool.Query(ctx, claimSQL, node, s.Incarnation().String(), s.Holder.String(), want.Types, want.MaxAttempts) // rows carry the error
	err = s.read(rows, node, &got)
	if err != nil {
		got.Outcomes = nil
	}
	return got, db.Error(ctx, "claim", err)
}

func (s *Source) read(rows pgx.Rows, node string, got *work.Got) error {
	defer rows.Close()
	var (
		outcome                     string
		id, turn                    *int64
		message, headers            []byte
		attempt, deferrals, allowed *int32
		due                         *time.Time
		detail                      *string
	)
	for rows.Next() {
		message, headers = nil, nil
		if err := rows.Scan(&outcome, &id, &turn, &message, &headers, &attempt, &deferrals, &due, &allowed, &detail); err != nil {
			return err
		}
		switch outcome {
		case "buried":
			got.Buried++
		case "reset":
			s.Log.Warn("the cursor over broadcasts was set anew", "node", node, "namespace", string(s.Namespace), "detail", *detail)
		case "claimed":
			m := &delivery{from: s, node: node, turn: *turn, due: *due}
			m.d.Target = envelope.Decode(message, &m.d.Event)
			m.d.Headers, _, _, _ = envelope.Headers(headers)
			m.d.Consumer = "broadcast:" + node
			m.d.MessageID = *id
			m.d.Attempt, m.d.Deferrals, m.d.MaxAttempts = int(*attempt), int(*deferrals), int(*allowed)
			got.Items = append(got.Items, m)
			got.Bytes, got.More = len(message), true
		}
	}
	return rows.Err()
}

// verdict is a result, as core_node.settle_broadcast reads it.
type verdict struct {
	Action string          `json:"action"`
	After  string          `json:"after,omitempty"`
	Policy json.RawMessage `json:"policy,omitempty"`
	Reason string          `json:"reason"`
	Error  string          `json:"error"`
}

// Settle implements [engine.Source].
func (s *Source) Settle(ctx context.Context, results []work.Result) (outcomes []work.Outcome, err error) {
	for _, r := range results {
		m := r.Item.(*delivery)
		v := verdict{Action: r.Action.String(), Policy: json.RawMessage(r.Policy), Reason: r.Reason, Error: r.Error}
		if r.Exact || r.Action == work.Release {
			v.After = db.Interval(r.After)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		kind := s.answered(m.turn)
		if kind == "" {
			if err := db.Call(ctx, s.Pool, "settle", settleSQL, append(m.fence(), string(text)), &kind); err != nil {
				return nil, err
			}
			s.answer(m.turn, kind)
		}
		if kind == "done" || r.Action == work.Ack && m.Acked() { // by its handler, whose transaction has committed
			continue
		}
		outcomes = append(outcomes, work.Outcome{Item: m, Kind: work.OutcomeKind(kind), Reason: r.Reason})
	}
	return outcomes, nil
}

// answered is what became of the result of a turn; "" if that is not known.
func (s *Source) answered(turn int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.turn == turn {
		return s.last.kind
	}
	return ""
}

func (s *Source) answer(turn int64, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.turn, s.last.kind = turn, kind
}

// Extend implements [engine.Source]. There is no lease: what this process has in hand is its own until another one reads as the node.
func (s *Source) Extend(ctx context.Context, items []work.Item, _ time.Duration) (lost []work.Item, err error) {
	for _, it := range items {
		var holds bool
		if err := db.Call(ctx, s.Pool, "extend", holdsSQL, it.(*delivery).fence(), &holds); err != nil && !errors.Is(err, nexus.ErrNotFound) {
			return nil, err
		}
		if !holds {
			lost = append(lost, it)
		}
	}
	return lost, nil
}

// TurnFree implements [engine.Source].
func (s *Source) TurnFree() {}

// tx is a transaction of handlers, which moves the cursor as well.
type tx struct{ *invoke.Tx }

// Begin implements [consume.Source].
func (s *Source) Begin(ctx context.Context) (engine.Tx, error) {
	t, err := invoke.Begin(ctx, s.Handlers, s.Session, false, "")
	if err != nil {
		return nil, err
	}
	return &tx{t}, nil
}

// Ack implements [engine.Tx].
func (t *tx) Ack(ctx context.Context, it work.Item) error {
	return t.Commit(ctx, func(b *pgx.Batch) { b.Queue("select "+ackCall, it.(*delivery).fence()...) })
}

// Sever implements [engine.Tx].
func (t *tx) Sever() { invoke.Sever(t.Conn()) }
