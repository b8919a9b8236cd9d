// Package sourcetest has a source in memory for tests of what claims from one, and the suite that every source has to pass, that one
// among them.
package sourcetest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/work"
)

// Attempts is how many attempts a message of a Memory has.
const Attempts = 10

// Memory is a source in memory. The zero value is an empty one.
type Memory struct {
	Lasting atomic.Bool // handlers leave in their session what cannot be put back

	mu       sync.Mutex
	last     int64
	messages map[int64]*message
	settled  []work.Result
	marked   int
	turns    int
	faulty   func(ctx context.Context, op string, results []work.Result) error
}

type message struct {
	id         int64
	kind       string
	emitted    time.Time
	reads      int
	deferrals  int
	visible    time.Time
	unanswered bool // a process had it and has not said what became of it
	lone       bool // and had nothing else beside it of which that is true
	locked     *Tx  // express: who has it
}

// item is a message in hand; reads is the fence.
type item struct {
	m     *message
	reads int
	d     nexus.Delivery
	alone bool
	acked atomic.Bool

	express bool // locked, not leased
}

// Delivery implements [work.Item].
func (it *item) Delivery() *nexus.Delivery { return &it.d }

// Handed implements [work.Item].
func (it *item) Handed(bool) *nexus.Delivery {
	d := it.d
	nexus.Bind(&d, it)
	return &d
}

// Acked implements [work.Item].
func (it *item) Acked() bool { return it.acked.Load() }

// Alone implements [work.Item].
func (it *item) Alone() bool { return it.alone }

// Due implements [work.Item].
func (it *item) Due() time.Time { return it.m.emitted }

// Emit puts an event of each type on the queue and returns the ids of the messages.
func (s *Memory) Emit(types ...string) (ids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.messages == nil {
		s.messages = map[int64]*message{}
	}
	for _, kind := range types {
		s.last++
		now := time.Now()
		s.messages[s.last] = &message{id: s.last, kind: kind, emitted: now, visible: now}
		ids = append(ids, s.last)
	}
	return ids
}

// Fault has f asked before each exchange; its error is the answer, and it may wait for the end of ctx. op is claim, settle, extend, begin,
// mark or commit.
func (s *Memory) Fault(f func(ctx context.Context, op string, results []work.Result) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faulty = f
}

// Steal takes a message away from whoever has it, as somebody does who finds that its lease is over.
func (s *Memory) Steal(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[id]
	m.reads++
	m.visible = time.Now().Add(time.Hour)
}

// Left is how many messages there are.
func (s *Memory) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages)
}

// Settled is what was settled, and how, in order.
func (s *Memory) Settled() []work.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.settled)
}

// Marked is how many express transactions are marked as under way.
func (s *Memory) Marked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marked
}

// Turns is how often an engine was told that the node's turn is free.
func (s *Memory) Turns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

// TurnFree implements [engine.Source]. A claim looks at everything as it is.
func (s *Memory) TurnFree() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
}

// GaveBack implements [batch.Source].
func (s *Memory) GaveBack([]work.Item) {}

// Key implements [engine.Source].
func (s *Memory) Key() string { return "memory" }

func (s *Memory) fault(ctx context.Context, op string, results []work.Result) error {
	s.mu.Lock()
	f := s.faulty
	s.mu.Unlock()
	if f != nil {
		if err := f(ctx, op, results); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Claim implements [consume.Source].
func (s *Memory) Claim(ctx context.Context, results []work.Result, want work.Want) (work.Got, error) {
	if err := s.fault(ctx, "claim", results); err != nil {
		return work.Got{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	got := work.Got{Outcomes: s.settle(results)}
	s.take(&got, want, nil, false)
	return got, nil
}

// Lease implements [batch.Source].
func (s *Memory) Lease(ctx context.Context, want work.Want) (got work.Got, err error) {
	if err := s.fault(ctx, "claim", nil); err != nil {
		return work.Got{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(&got, want, nil, want.Alone)
	return got, nil
}

// due are the messages that a claim may take, in order.
func (s *Memory) due(want work.Want) (due []*message) {
	now := time.Now()
	for _, m := range s.messages {
		if m.locked == nil && !m.visible.After(now) && slices.ContainsFunc(want.Types, func(p string) bool { return handlers.Matches(p, m.kind) }) {
			due = append(due, m)
		}
	}
	slices.SortFunc(due, func(a, b *message) int { return cmp.Compare(a.id, b.id) })
	return due
}

// take takes what is wanted, for tx by a lock or else by a lease. only says that one of those that go alone is taken without others.
func (s *Memory) take(got *work.Got, want work.Want, tx *Tx, only bool) {
	due := s.due(want)
	if only && slices.ContainsFunc(due, func(m *message) bool { return m.unanswered }) {
		due = slices.DeleteFunc(due, func(m *message) bool { return !m.unanswered })
	}
	if got.Few = len(due) > 0 && len(due) < want.AtLeast; got.Few {
		return
	}
	taken := false // one that goes alone
	for i, m := range due {
		if len(got.Items)+got.Buried >= want.Limit {
			got.More = i < len(due)
			break
		}
		if m.unanswered {
			got.Alone = true
			if !want.Alone || taken {
				continue
			}
			taken = true
		}
		if m.reads-m.deferrals >= Attempts && (m.lone || !m.unanswered) {
			delete(s.messages, m.id)
			got.Buried++
			continue
		}
		it := &item{m: m, alone: m.unanswered}
		if tx != nil {
			m.locked = tx
			it.express = true
		} else {
			it.lease(want.Lease)
		}
		it.reads = m.reads
		it.d.Event = nexus.Event{ID: m.id, Type: m.kind, EmittedAt: m.emitted}
		it.d.MessageID, it.d.MaxAttempts = m.id, Attempts
		it.count()
		got.Items = append(got.Items, it)
	}
}

// lease leases the message, which begins an attempt.
func (it *item) lease(lease time.Duration) {
	m := it.m
	if it.alone && !m.lone {
		m.deferrals++ // that it died in company counts for nobody
	}
	m.lone = it.alone
	m.reads++
	m.visible, m.unanswered = time.Now().Add(lease), true
	it.reads, it.express = m.reads, false
}

// count says which attempt it is; one of express has not been counted yet.
func (it *item) count() {
	it.d.Attempt, it.d.Deferrals = it.m.reads-it.m.deferrals, it.m.deferrals
	if it.express {
		it.d.Attempt++
	}
}

// LeaseThese implements [batch.Source].
func (s *Memory) LeaseThese(ctx context.Context, items []work.Item, lease time.Duration) (leased []work.Item, err error) {
	if err := s.fault(ctx, "claim", nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range items {
		it := one.(*item)
		if m := s.messages[it.m.id]; m != nil && m.reads == it.reads && m.locked == nil {
			it.lease(lease)
			leased = append(leased, it)
		}
	}
	return leased, nil
}

// Settle implements [engine.Source].
func (s *Memory) Settle(ctx context.Context, results []work.Result) ([]work.Outcome, error) {
	if err := s.fault(ctx, "settle", results); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settle(results), nil
}

func (s *Memory) settle(results []work.Result) (outcomes []work.Outcome) {
	for _, r := range results {
		it := r.Item.(*item)
		kind := s.become(it, r)
		if kind != work.Lost && kind != work.Gone {
			s.settled = append(s.settled, r)
		}
		if kind != "" {
			outcomes = append(outcomes, work.Outcome{Item: it, Kind: kind, Reason: r.Reason})
		}
	}
	return outcomes
}

// become is what becomes of a message; "" if it is done.
func (s *Memory) become(it *item, r work.Result) work.OutcomeKind {
	m := s.messages[it.m.id]
	switch {
	case m == nil:
		return work.Gone
	case m.reads != it.reads:
		return work.Lost
	}
	if it.express {
		m.reads++ // the attempt is counted by what becomes of it
	}
	m.unanswered, m.locked = false, nil
	switch r.Action {
	case work.Retry:
		if m.reads-m.deferrals < Attempts {
			m.visible = time.Now().Add(r.After)
			return work.Retried
		}
	case work.Release:
		m.deferrals++
		m.visible = time.Now().Add(r.After)
		return work.Released
	case work.Ack:
		delete(s.messages, m.id)
		return ""
	case work.Reject:
	}
	delete(s.messages, m.id)
	return work.Buried
}

// Extend implements [engine.Source].
func (s *Memory) Extend(ctx context.Context, items []work.Item, lease time.Duration) (lost []work.Item, err error) {
	if err := s.fault(ctx, "extend", nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range items {
		it := one.(*item)
		if m := s.messages[it.m.id]; m != nil && m.reads == it.reads {
			m.visible = time.Now().Add(lease)
		} else {
			lost = append(lost, it)
		}
	}
	return lost, nil
}

// Reasons are those of the results that were settled, acks as "ack", in order, in one line.
func (s *Memory) Reasons() string {
	var all []string
	for _, r := range s.Settled() {
		if r.Action == work.Ack {
			all = append(all, r.Action.String())
		} else {
			all = append(all, r.Action.String()+" "+r.Reason)
		}
	}
	return strings.Join(all, ", ")
}
