package node

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/observe"
	"github.com/nexuspg/nexus/queue"
)

// Config of a node. Only Namespace is required. What can have no effect, since no handler is of the kind it is for, or since another
// setting stands against it, is [nexus.ErrInvalid] from Run and Work. A node without handlers, which does upkeep only, takes any.
type Config struct {
	Namespace nexus.Namespace
	ID        string // "": the host's name, numbered if a live node has it; given: a live twin is ErrConflict from Run

	// Workers are the handlers at once that hold a transaction, of all modes together: On, and batches, each of which counts once. Each has
	// a connection of the pool, so they are at most as many as those. Where more would run, modes take turns. A handler that ignores the end of
	// its context counts on. 0: one fewer than the pool has, at least 1; more where a Handler asks for it.
	Workers int

	// LeasedWorkers are the OnLeased handlers at once, which hold no connection. 0: 50; more where a Handler asks for it. Any number costs the
	// database the same for each event. It is bounded for the others' sake: so many calls hit the service behind at once, and after
	// a crash so many events run again one at a time, since each of them may have been the cause.
	LeasedWorkers int

	Lease      time.Duration      // how long a claimed event is hidden from others, renewed while handled; 0: 30 s; 1 s to 12 h
	Poll       time.Duration      // longest pause between two looks at an empty queue; 0: 1 s; 10 ms to 1 h
	Grace      time.Duration      // between the end of Run's context and the cancelling of handlers; 0: 30 s; negative: none
	Timeout    time.Duration      // default of Handler.Timeout; 0: 30 min; negative: none
	Express    time.Duration      // how long an express batch may take, see Node.OnBatch; 0: 5 s; 50 ms to 1 min
	WakeURL    string             // direct connection for LISTEN when the pool goes through a pooler; "": as the pool
	Retry      nexus.RetryPolicy  // default of Handler.Retry
	Middleware []queue.Middleware // around handlers; the first is the outermost
	Logger     *slog.Logger       // nil: slog.Default; payloads are never logged

	// Registerer gets the metrics, which nodes that share it share; nil: none. docs/reference/metrics.md lists them.
	Registerer prometheus.Registerer

	// OnSettled is told how each delivery was settled, once that is committed; nil: nobody is. It is for logs, counts and hints to others, not
	// for what has to happen: a process that dies, or an answer of the database that is lost, leaves outcomes untold, and so do deliveries whose
	// lease was lost and those that a claim gives up on. It is called in one goroutine of the node, one outcome after the other, and holds up
	// nothing: 10,000 outcomes wait for it, more are counted in the log and left out. A panic of it is logged. When the node ends, what waits has a second.
	OnSettled func(ctx context.Context, s Settled)

	// Tracer makes the spans around handlers, which continue the traces that events were emitted in; nil: none.
	Tracer trace.TracerProvider
}

// plan is a Config that has been completed and judged, with the handlers that it was judged with.
type plan struct {
	Config
	given     struct{ id, express bool } // rather than completed
	consumers []*planned
	made      map[*Handler]*handlers.Handler
	asked     map[*Handler]settings // of those that were made, as they were then
	metrics   *observe.Metrics      // nil: none

	broadcasts        *handlers.Handlers // nil: none
	broadcastHandlers []*Handler         // the same, as they were registered

	wake *pgx.ConnConfig
}

// planned are the handlers of one consumer.
type planned struct {
	name     string
	handlers *handlers.Handlers
	declared *declared // nil: "default", which is there with its namespace
}

// plan judges the configuration with the handlers that there are now. The caller holds the mutex.
func (n *Node) plan() (*plan, error) {
	p := &plan{Config: n.cfg}
	p.given.id, p.given.express = n.cfg.ID != "", n.cfg.Express != 0
	if err := p.complete(n.pool); err != nil {
		return nil, err
	}
	if err := p.take(n.consumers, new(plan)); err != nil {
		return nil, err
	}
	if err := p.takeBroadcasts(n.broadcasts); err != nil {
		return nil, err
	}
	return p, p.effective(n.pool, n.registered())
}

// replan is p with the handlers that there are now. What was decided with others stays: the numbers of workers, and settings of handlers that p has.
func (n *Node) replan(p *plan) (*plan, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := *p
	if err := p.sameBroadcasts(n.broadcasts); err != nil {
		return nil, err
	}
	if err := next.take(n.consumers, p); err != nil {
		return nil, err
	}
	return &next, next.fit(n.pool, n.registered())
}

// take takes the handlers of consumers, those that were made before as they are.
func (s *plan) take(consumers []*consumer, before *plan) error {
	if err := distinct(consumers); err != nil {
		return err
	}
	s.consumers, s.made, s.asked = nil, map[*Handler]*handlers.Handler{}, map[*Handler]settings{}
	for _, c := range consumers {
		var list []*handlers.Handler
		for _, h := range c.handlers {
			one, ok := before.made[h]
			var err error
			if ok {
				err = h.unchanged(before.asked[h])
			} else {
				one, err = s.handler(h)
			}
			if err != nil {
				return err
			}
			s.made[h], s.asked[h] = one, h.settings()
			list = append(list, one)
		}
		handlers, err := handlers.New(list, s.Retry)
		if err != nil {
			return invalid("Handler", err.Error(), "make them all On, all On with Express, all OnBatch or all OnLeased, or give the events a type each")
		}
		s.consumers = append(s.consumers, &planned{c.name, handlers, c.declared.declare()})
	}
	return nil
}

// types are the patterns that the node handles, and the consumer that it does so for, each.
func (s *plan) types() (types, consumers []string) {
	for _, c := range s.consumers {
		for _, pattern := range c.handlers.Patterns() {
			types, consumers = append(types, pattern), append(consumers, c.name)
		}
	}
	return types, consumers
}

// same reports whether both have the same handlers.
func (s *plan) same(o *plan) bool {
	return slices.EqualFunc(s.consumers, o.consumers, func(a, b *planned) bool { return a.name == b.name && a.handlers.Same(b.handlers) })
}

func (s *plan) complete(pool *pgxpool.Pool) error {
	if pool == nil {
		return invalid("pool", "there is no pool", "give node.New a *pgxpool.Pool")
	}
	if s.Namespace == "" {
		return invalid("Config.Namespace", "Config.Namespace is empty", "name the namespace whose events this node handles")
	}
	for _, d := range []struct {
		field    string
		value    *time.Duration
		def      time.Duration
		min, max time.Duration
	}{
		{"Config.Lease", &s.Lease, 30 * time.Second, time.Second, 12 * time.Hour},
		{"Config.Poll", &s.Poll, time.Second, 10 * time.Millisecond, time.Hour},
		{"Config.Grace", &s.Grace, 30 * time.Second, math.MinInt64, math.MaxInt64},
		{"Config.Express", &s.Express, 5 * time.Second, 50 * time.Millisecond, time.Minute},
		{"Config.Timeout", &s.Timeout, 30 * time.Minute, math.MinInt64, math.MaxInt64},
	} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < d.min || *d.value > d.max {
			return invalid(d.field, fmt.Sprintf("%s is %s", d.field, *d.value), fmt.Sprintf("give %s to %s, or 0 for %s", d.min, d.max, d.def))
		}
	}
	s.Grace = max(s.Grace, 0)
	if s.Workers < 0 || s.Workers > mostWorkers {
		return invalid("Config.Workers", fmt.Sprintf("Config.Workers is %d", s.Workers), "give 1 to 10,000, or 0")
	}
	if s.LeasedWorkers < 0 || s.LeasedWorkers > mostWorkers {
		return invalid("Config.LeasedWorkers", fmt.Sprintf("Config.LeasedWorkers is %d", s.LeasedWorkers), "give 1 to 10,000, or 0")
	}
	if err := policy("Config.Retry", s.Retry); err != nil {
		return err
	}
	if s.ID == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "node"
		}
		s.ID = host
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Registerer != nil {
		var err error
		if s.metrics, err = observe.Register(s.Registerer); err != nil {
			return invalid("Config.Registerer", err.Error(), "give one without metrics of these names")
		}
	}
	s.wake = pool.Config().ConnConfig.Copy()
	if s.WakeURL != "" {
		var err error
		if s.wake, err = pgx.ParseConfig(s.WakeURL); err != nil {
			// The driver's words may quote the string, and that holds a password.
			return invalid("Config.WakeURL", "Config.WakeURL is no connection string", "give postgres://user@host:5432/database")
		}
	}
	return nil
}

func (s *plan) handler(h *Handler) (*handlers.Handler, error) {
	c := &handlers.Handler{
		Name: h.Name, Pattern: h.pattern, Tx: h.calls.inTx(h.onTx), Batch: h.calls.inBatch(h.onBatch), Leased: h.calls.leased(h.onLeased), Express: h.Express, Lease: h.Leased,
		Size: h.Batch, Linger: h.Linger, Retry: h.Retry, Timeout: h.Timeout, Workers: h.Workers,
	}
	if h.answer != nil {
		c.Leased, c.Retry = h.calls.leased(s.answering(h.answer)), nexus.RetryPolicy{MaxAttempts: -1}
	}
	if c.Name == "" {
		c.Name = h.pattern
	}
	if c.Timeout == 0 {
		c.Timeout = s.Timeout
	}
	field := fmt.Sprintf("Handler(%s)", c.Name)
	switch {
	case h.onTx == nil && h.onBatch == nil && h.onLeased == nil && h.answer == nil:
		return nil, invalid(field, fmt.Sprintf("the handler of %q has no function", h.pattern), "give one that is not nil")
	case h.Workers < 0 || h.Workers > mostWorkers:
		return nil, invalid(field+".Workers", fmt.Sprintf("%s.Workers is %d", field, h.Workers), "give 1 to 10,000, or 0")
	case h.Express && (h.onLeased != nil || h.answer != nil):
		return nil, invalid(field+".Express", field+".Express is set, but the handler is OnLeased", "make it On or OnBatch, or leave Express out")
	case h.Leased && h.onTx != nil:
		return nil, invalid(field+".Leased", field+".Leased is set, but the handler is On", "make it OnLeased or OnBatch, or leave Leased out")
	case h.Express && h.Leased:
		return nil, invalid(field+".Leased", field+".Leased and Express exclude each other", "set one of them")
	case h.answer != nil && h.Retry != nexus.RetryPolicy{}:
		return nil, invalid(field+".Retry", field+".Retry is set, but a request runs once", "leave it out")
	case h.Batch != 0 && h.onBatch == nil && !h.Express:
		return nil, invalid(field+".Batch", field+".Batch is set, but it gets one event at a time", "make it OnBatch, or set Express on an On handler")
	case h.Linger != 0 && h.onBatch == nil && !h.Express:
		return nil, invalid(field+".Linger", field+".Linger is set, but it gets one event at a time", "make it OnBatch, or set Express on an On handler")
	case h.Batch < 0 || h.Batch > 10_000:
		return nil, invalid(field+".Batch", fmt.Sprintf("%s.Batch is %d", field, h.Batch), "give 1 to 10,000, or 0 for 100")
	case h.Linger < 0 || h.Linger > time.Minute:
		return nil, invalid(field+".Linger", fmt.Sprintf("%s.Linger is %s", field, h.Linger), "give 0 to 1 min")
	case h.Linger > 0 && h.Batch == 1:
		return nil, invalid(field+".Linger", field+".Linger is set, but one event is a full batch", "give Batch more than 1, or leave Linger out")
	case h.Retry.MaxAttempts == 1 && h.Retry != nexus.RetryPolicy{MaxAttempts: 1}:
		return nil, invalid(field+".Retry", field+".Retry.MaxAttempts is 1, so nothing is retried, but it says when", "allow more attempts, or leave the other fields out")
	}
	return c, policy(field+".Retry", h.Retry)
}

// policy judges a retry policy as SQL will, only sooner.
func policy(field string, p nexus.RetryPolicy) error {
	const month = 30 * 24 * time.Hour
	var what string
	switch {
	case p.MaxAttempts < -1 || p.MaxAttempts > 1_000_000:
		what = fmt.Sprintf("%s.MaxAttempts is %d", field, p.MaxAttempts)
	case p.Shape != "" && p.Shape != nexus.Exponential && p.Shape != nexus.Linear && p.Shape != nexus.Constant:
		what = fmt.Sprintf("%s.Shape is %q", field, p.Shape)
	case p.Base < 0 || p.Base > month:
		what = fmt.Sprintf("%s.Base is %s", field, p.Base)
	case p.Max < 0 || p.Max > month:
		what = fmt.Sprintf("%s.Max is %s", field, p.Max)
	case p.Max > 0 && p.Base > p.Max:
		what = fmt.Sprintf("%s.Base is %s, which is more than its Max, %s", field, p.Base, p.Max)
	case math.IsNaN(p.Jitter) || p.Jitter > 1:
		what = fmt.Sprintf("%s.Jitter is %v", field, p.Jitter)
	default:
		return nil
	}
	e := invalid(field, what, "MaxAttempts -1 to 1,000,000; Shape exponential, linear or constant; Base and Max 0 to 30 days, Base no more than Max; Jitter up to 1")
	e.Code = nexus.CodeRetryPolicy
	return e
}

func invalid(field, message, hint string) *nexus.Error {
	return &nexus.Error{Op: "node", Code: nexus.CodeArgumentValue, Field: field, Message: message, Hint: hint}
}
