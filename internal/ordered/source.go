// Package ordered is the source of an ordered consumer: its lanes. A claim takes several lanes, each with its next event, which whoever
// settles it makes room for the one behind it. So one event of a lane is in hand at a time, wherever, and order needs nobody's care.
//
// The fence is the lane with the token of the claim and the number up to which the lane had come.
package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/envelope"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// Is reports whether a consumer is ordered, by what the database calls its queue.
func Is(queue string) bool { return strings.HasPrefix(queue, "outbox ") }

// Source is the source of an ordered consumer for one engine.
type Source struct {
	Pool        *pgxpool.Pool   // the node's own
	Handlers    *pgxpool.Pool   // of the transactions of handlers
	Session     *invoke.Session // of its connections
	Namespace   nexus.Namespace
	Consumer    string
	Queue       string                // the key of its wake-ups
	Node        func() string         // claims and settles in its name
	MaxAttempts func(kind string) int // shown to handlers, by what work.KindOf says
	Freed       func()                // lanes are free that may have another event

	mu   sync.Mutex
	lost []string // tokens of claims whose answers were lost
}

// delivery is an event in hand.
type delivery struct {
	d     nexus.Delivery // the node's own, see work.Item
	from  *Source
	lane  int32
	token string
	seq   int64
	id    int64
	ours  bool        // its handlers run in a transaction of the node's, which settles it
	acked atomic.Bool // see Acked
	due   time.Time   // of a retry or a release; zero for what was due when it came
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

// Alone implements [work.Item]: a lane has one event in hand, so a death is counted where it belongs.
func (m *delivery) Alone() bool { return false }

// Acked implements [work.Item].
func (m *delivery) Acked() bool { return m.acked.Load() }

// Due implements [work.Item].
func (m *delivery) Due() time.Time {
	if m.due.IsZero() && m.d.Attempt == 1 {
		return m.d.EmittedAt
	}
	return m.due
}

// AckIn settles it in the transaction that q points to. Whether that commits is not known here.
func (m *delivery) AckIn(ctx context.Context, q nexus.DBTX) error {
	if m.ours {
		return work.SettledByNode()
	}
	text, err := verdicts([]work.Result{{Item: m}})
	if err != nil {
		return err
	}
	var none int64
	if err := db.Call(ctx, q, "ack", "select pg_catalog.count(*) from "+settleCall, []any{m.from.Node(), text, "true"}, &none); err != nil {
		return err
	}
	m.acked.Store(true)
	return nil
}

const (
	claimSQL = `select outcome, lane_id, token::text, seq, message_id, message, headers, attempt, due_at
from core_node.claim_ordered($1::text, $2::text, $3::text, $4::text[], $5::int[], $6::int, $7::text::interval, $8::text::uuid)`

	giveBackSQL = `select core_node.give_back_lanes($1::text, $2::text, $3::text[]::uuid[])`

	settleCall = `core_node.settle_ordered($1::text, $2::text::jsonb, $3::text::bool)`
	settleSQL  = `select outcome, message_id from ` + settleCall

	extendSQL = `select core_node.extend_lanes($1::int[], $2::text[]::uuid[], $3::text::interval)`
)

// Key returns the key of wake-ups.
func (s *Source) Key() string { return s.Queue }

// Claim implements [consume.Source].
func (s *Source) Claim(ctx context.Context, results []work.Result, want work.Want) (got work.Got, err error) {
	if got.Outcomes, err = s.settle(ctx, results); err != nil {
		return work.Got{}, err
	}
	token := uuid.NewString()
	if err = s.giveBack(ctx); err == nil {
		rows, _ := s.Pool.Query(ctx, claimSQL, string(s.Namespace), s.Consumer, s.Node(), want.Types, want.MaxAttempts, want.Limit, db.Interval(want.Lease), token) // rows carry the error
		if err = s.read(rows, &got); err != nil {
			got = work.Got{Outcomes: got.Outcomes}
			s.unheard(err, token)
		}
	}
	switch {
	case err == nil:
		return got, nil
	case len(results) > 0:
		return work.Got{Outcomes: got.Outcomes, More: true}, nil // these are settled: the next claim hears what is amiss
	}
	return work.Got{}, db.Error(ctx, "claim", err)
}

// unheard notes a claim that failed without a word of the database, which may have done it.
func (s *Source) unheard(err error, token string) {
	if !db.Unanswered(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, token)
}

// giveBack gives back what claims may have taken whose answers were lost.
func (s *Source) giveBack(ctx context.Context) error {
	s.mu.Lock()
	tokens := s.lost
	s.lost = nil
	s.mu.Unlock()
	if tokens == nil {
		return nil
	}
	err := db.Call(ctx, s.Pool, "give_back_lanes", giveBackSQL, []any{string(s.Namespace), s.Consumer, tokens}, new(int))
	if err == nil || errors.Is(err, nexus.ErrNotFound) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, tokens...)
	return err
}

// Lease implements [batch.Source].
func (s *Source) Lease(ctx context.Context, want work.Want) (work.Got, error) {
	return s.Claim(ctx, nil, want)
}

func (s *Source) read(rows pgx.Rows, got *work.Got) error {
	defer rows.Close()
	var (
		outcome          string
		lane, attempt    *int32
		token            *string
		seq, id          *int64
		message, headers []byte
		due              *time.Time
	)
	for rows.Next() {
		message, headers = nil, nil
		if err := rows.Scan(&outcome, &lane, &token, &seq, &id, &message, &headers, &attempt, &due); err != nil {
			return err
		}
		switch outcome {
		case "buried":
			got.Buried++
		case "more":
			got.More = true
		case "claimed":
			m := &delivery{from: s, lane: *lane, token: *token, seq: *seq, id: *id}
			m.d.Target = envelope.Decode(message, &m.d.Event)
			m.d.Headers, _, _, _ = envelope.Headers(headers)
			m.d.Consumer, m.d.MessageID, m.d.Attempt = s.Consumer, *id, int(*attempt)
			m.d.MaxAttempts = s.MaxAttempts(work.KindOf(&m.d))
			if due != nil {
				m.due = *due
			}
			got.Items = append(got.Items, m)
			got.Bytes = max(got.Bytes, len(message))
		}
	}
	return rows.Err()
}

// verdict is a result, as core_node.settle_ordered reads it.
type verdict struct {
	Lane   int32           `json:"lane"`
	Token  string          `json:"token"`
	Seq    int64           `json:"seq"`
	ID     int64           `json:"id"`
	Action string          `json:"action"`
	After  string          `json:"after,omitempty"`
	Policy json.RawMessage `json:"policy,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func verdicts(results []work.Result) (string, error) {
	list := make([]verdict, len(results))
	for i, r := range results {
		m := r.Item.(*delivery)
		list[i] = verdict{
			Lane: m.lane, Token: m.token, Seq: m.seq, ID: m.id, Action: r.Action.String(), Policy: json.RawMessage(r.Policy),
			Reason: r.Reason, Error: work.Storable(r.Error, work.MaxText),
		}
		if r.Exact || r.Action == work.Release {
			list[i].After = db.Interval(r.After)
		}
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// Settle implements [engine.Source].
func (s *Source) Settle(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	outcomes, err := s.settle(ctx, results)
	if err == nil {
		s.Freed()
	}
	return outcomes, err
}

func (s *Source) settle(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	if len(results) == 0 {
		return nil, nil
	}
	text, err := verdicts(results)
	if err != nil {
		return nil, err
	}
	rows, _ := s.Pool.Query(ctx, settleSQL, s.Node(), text, "false")
	outcomes, err := outcomesOf(rows, results)
	return outcomes, db.Error(ctx, "settle", err)
}

func outcomesOf(rows pgx.Rows, results []work.Result) (outcomes []work.Outcome, err error) {
	defer rows.Close()
	var kind string
	var id int64
	for rows.Next() {
		if err := rows.Scan(&kind, &id); err != nil {
			return nil, err
		}
		for _, r := range results {
			m := r.Item.(*delivery)
			if m.id != id || r.Action == work.Ack && m.Acked() { // by its handler, whose transaction has committed
				continue
			}
			outcomes = append(outcomes, work.Outcome{Item: m, Kind: work.OutcomeKind(kind), Reason: r.Reason})
		}
	}
	return outcomes, rows.Err()
}

// Extend implements [engine.Source].
func (s *Source) Extend(ctx context.Context, items []work.Item, lease time.Duration) (lost []work.Item, err error) {
	ids, tokens := make([]int32, len(items)), make([]string, len(items))
	for i, it := range items {
		m := it.(*delivery)
		ids[i], tokens[i] = m.lane, m.token
	}
	var gone []int32
	err = db.Call(ctx, s.Pool, "extend", extendSQL, []any{ids, tokens, db.Interval(lease)}, &gone)
	if errors.Is(err, nexus.ErrNotFound) {
		return items, nil // they went with their consumer
	}
	for i, it := range items {
		if slices.Contains(gone, ids[i]) {
			lost = append(lost, it)
		}
	}
	return lost, err
}

// TurnFree implements [engine.Source].
func (s *Source) TurnFree() {}

// GaveBack implements [batch.Source].
func (s *Source) GaveBack([]work.Item) {}

// LeaseThese implements [batch.Source]: no event is in hand without a lease.
func (s *Source) LeaseThese(context.Context, []work.Item, time.Duration) ([]work.Item, error) {
	return nil, nil
}
