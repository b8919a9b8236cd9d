// Package handlers knows what a consumer's handlers are, and which of them get an event. It runs one event through those it is for; when, and
// what becomes of it, is for engines to say.
package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// Handler is a registration. One of Tx, Batch and Leased is set.
type Handler struct {
	Name    string
	Pattern string
	Tx      func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error
	Batch   func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error
	Leased  func(ctx context.Context, d *nexus.Delivery) error
	Express bool // Tx: many share a transaction
	Lease   bool // Batch: claim by lease, never express
	Retry   nexus.RetryPolicy
	Timeout time.Duration // negative: none
	Workers int           // at once; 0: as many as the loop has
	Size    int           // most items a batch; 0: the default
	Linger  time.Duration // how long to wait for a full batch
}

// mode is what all handlers of one event type must have in common.
type mode string

const (
	transactional mode = "On"
	express       mode = "On with Express"
	batched       mode = "OnBatch"
	batchedLeased mode = "OnBatch with Leased"
	leased        mode = "OnLeased"
)

func (h *Handler) mode() mode {
	switch {
	case h.Batch != nil && h.Lease:
		return batchedLeased
	case h.Batch != nil:
		return batched
	case h.Tx != nil && h.Express:
		return express
	case h.Tx != nil:
		return transactional
	}
	return leased
}

// shares reports whether its items share a transaction with others.
func (m mode) shares() bool { return m == express || m == batched || m == batchedLeased }

// Lender lends handlers a transaction for a call, which done ends.
type Lender interface {
	Lend() (tx pgx.Tx, done func())
}

func (h *Handler) call(ctx context.Context, tx Lender, d *nexus.Delivery) error {
	if h.Tx == nil {
		return h.Leased(ctx, d)
	}
	lent, done := tx.Lend()
	defer done()
	return h.Tx(ctx, lent, d)
}

// CallBatch calls a handler of batches.
func (h *Handler) CallBatch(ctx context.Context, tx Lender, batch []*nexus.Delivery) error {
	lent, done := tx.Lend()
	defer done()
	return h.Batch(ctx, lent, batch)
}

// Handlers are those of one consumer, in registration order.
type Handlers struct {
	list  []*Handler
	retry nexus.RetryPolicy // below the handlers' own

	mu     sync.RWMutex
	routes map[string]*Route // by event type
}

// maxRoutes bounds the cache of routes: a pattern may be met by any number of event types.
const maxRoutes = 10_000

// Route is what all events of one type have in common.
type Route struct {
	Handlers      []*Handler
	Transactional bool
	Policy        string        // jsonb
	Timeout       time.Duration // 0: none

	name        string // of the handlers, for the log
	maxAttempts int    // 0: the consumer's
}

// New checks that every handler of one event type has the same mode. retry fills what handlers leave open.
func New(list []*Handler, retry nexus.RetryPolicy) (*Handlers, error) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.mode() != b.mode() && overlap(a.Pattern, b.Pattern) {
				return nil, fmt.Errorf("handlers %q (%s) and %q (%s) meet on one event type in different modes", a.Name, a.mode(), b.Name, b.mode())
			}
		}
	}
	return handlersOf(list, retry), nil
}

func handlersOf(list []*Handler, retry nexus.RetryPolicy) *Handlers {
	return &Handlers{list: list, retry: retry, routes: map[string]*Route{}}
}

// Transactional reports whether any of them runs in a transaction under a lease.
func (hs *Handlers) Transactional() bool {
	return slices.ContainsFunc(hs.list, func(h *Handler) bool { return h.mode() == transactional || h.mode() == batchedLeased })
}

// Split parts the handlers by what runs them. A [Loop] of its own each: plain, which hold a transaction for one item at a time, and
// leased, which hold none, so that more of them may run at once. Each of the groups, whose items share a transaction, is for a [Batches]:
// what meets on an event type must be together, and what has the same settings may be. plain and leasing are nil if there are none.
func (hs *Handlers) Split() (plain, leasing *Handlers, groups []*Handlers) {
	var holding, free []*Handler
	var sharing [][]*Handler
	for _, h := range hs.list {
		switch m := h.mode(); {
		case m == leased:
			free = append(free, h)
			continue
		case !m.shares():
			holding = append(holding, h)
			continue
		}
		// A handler may join groups that were apart before.
		joined := []*Handler{h}
		var apart [][]*Handler
		for _, g := range sharing {
			if slices.ContainsFunc(g, func(o *Handler) bool { return h.together(o) }) {
				joined = append(joined, g...)
			} else {
				apart = append(apart, g)
			}
		}
		sharing = append(apart, joined)
	}
	if len(holding) > 0 {
		plain = handlersOf(holding, hs.retry)
	}
	if len(free) > 0 {
		leasing = handlersOf(free, hs.retry)
	}
	for _, g := range sharing {
		var ordered []*Handler // as registered
		for _, h := range hs.list {
			if slices.Contains(g, h) {
				ordered = append(ordered, h)
			}
		}
		groups = append(groups, handlersOf(ordered, hs.retry))
	}
	return plain, leasing, groups
}

func (h *Handler) together(o *Handler) bool {
	if h.mode() != o.mode() {
		return false
	}
	return overlap(h.Pattern, o.Pattern) || h.Size == o.Size && h.Linger == o.Linger && h.Workers == o.Workers && h.Timeout == o.Timeout
}

// Patterns returns the patterns, each once.
func (hs *Handlers) Patterns() []string {
	var p []string
	for _, h := range hs.list {
		if !slices.Contains(p, h.Pattern) {
			p = append(p, h.Pattern)
		}
	}
	return p
}

// merged returns the handlers that cover a type or pattern and the policy they make together: of each field, the first
// handler that sets it decides.
func (hs *Handlers) merged(fits func(pattern string) bool) (handlers []*Handler, policy nexus.RetryPolicy) {
	for _, h := range hs.list {
		if fits(h.Pattern) {
			handlers = append(handlers, h)
			policy = Merge(policy, h.Retry)
		}
	}
	return handlers, Merge(policy, hs.retry)
}

// List are the handlers, in registration order.
func (hs *Handlers) List() []*Handler { return hs.list }

// Attempts returns the patterns with the attempts that SQL shall bury by, so that a message whose process dies is given up
// before a handler sees it once too often. SQL takes the first pattern that matches and says something, as merged does; what
// is said for all handlers therefore comes after them, with the patterns once more.
func (hs *Handlers) Attempts() (patterns []string, attempts []int) {
	for _, h := range hs.list {
		patterns, attempts = append(patterns, h.Pattern), append(attempts, h.Retry.MaxAttempts)
	}
	if hs.retry.MaxAttempts != 0 {
		for _, p := range hs.Patterns() {
			patterns, attempts = append(patterns, p), append(attempts, hs.retry.MaxAttempts)
		}
	}
	return patterns, attempts
}

// Route returns what to do with an event type, nil if no handler wants it.
func (hs *Handlers) Route(eventType string) *Route {
	hs.mu.RLock()
	r, ok := hs.routes[eventType]
	hs.mu.RUnlock()
	if ok {
		return r
	}
	handlers, policy := hs.merged(func(p string) bool { return Matches(p, eventType) })
	if len(handlers) > 0 {
		r = &Route{
			Handlers: handlers, name: names(handlers), Transactional: handlers[0].Tx != nil,
			Policy: policyJSON(policy), maxAttempts: policy.MaxAttempts,
		}
		for _, h := range handlers {
			// They share one context, so the most patient handler decides how long it lives.
			if h.Timeout < 0 || r.Timeout < 0 {
				r.Timeout = -1
			} else {
				r.Timeout = max(r.Timeout, h.Timeout)
			}
		}
		r.Timeout = max(r.Timeout, 0)
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if len(hs.routes) >= maxRoutes {
		clear(hs.routes)
	}
	hs.routes[eventType] = r
	return r
}

// PatternOf is the pattern of the first handler that wants an event type, "" if none does.
func (hs *Handlers) PatternOf(eventType string) string {
	hs.mu.RLock()
	r := hs.routes[eventType]
	hs.mu.RUnlock()
	if r != nil {
		return r.Handlers[0].Pattern
	}
	for _, h := range hs.list {
		if Matches(h.Pattern, eventType) {
			return h.Pattern
		}
	}
	return ""
}

// MaxAttemptsOf is what handlers are shown as the limit of an event type: theirs, else the consumer's.
func (hs *Handlers) MaxAttemptsOf(eventType string, consumers int) int {
	hs.mu.RLock()
	r := hs.routes[eventType]
	hs.mu.RUnlock()
	var n int
	if r != nil {
		n = r.maxAttempts
	} else {
		_, policy := hs.merged(func(p string) bool { return Matches(p, eventType) })
		n = policy.MaxAttempts
	}
	if n == 0 {
		return consumers
	}
	return n
}

// names are those of the handlers that an event passes through, for the log.
func names(handlers []*Handler) string {
	all := make([]string, len(handlers))
	for i, h := range handlers {
		all[i] = h.Name
	}
	return strings.Join(all, ", ")
}
