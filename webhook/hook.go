package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/answer"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/ordered"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/post"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
)

const (
	everyGood = 10 * time.Second // between two notes that all is well
	everyBad  = time.Second      // between two notes of failures
	noteFor   = 5 * time.Second

	// margin is what encoding an event and noting a result may take beyond the POST.
	margin = 30 * time.Second
)

// hook is a webhook that runs.
type hook struct {
	host   *svc.Host
	client *post.Client
	now    atomic.Pointer[settings]
	loop   *consume.Loop

	mu     sync.Mutex
	noted  time.Time
	failed bool // as it was noted
}

func newHook(h *svc.Host, client *post.Client, s *settings) (*hook, error) {
	k := &hook{host: h, client: client}
	k.now.Store(s)
	deliver, retry := k.deliver, nexus.RetryPolicy{}
	if s.Consumer == pgmqueue.Requests {
		deliver, retry = (&answer.Answerer{Logger: h.Logger, Answered: h.Answered}).Handler(k.ask), nexus.RetryPolicy{MaxAttempts: -1}
	}
	hs, err := handlers.New([]*handlers.Handler{{
		Name: "webhook " + s.Name, Pattern: s.Pattern, Leased: deliver, Retry: retry, Timeout: 5*time.Minute + margin, Workers: s.Concurrency,
	}}, nexus.RetryPolicy{})
	if err != nil {
		return nil, err
	}
	node, attempts := func() string { return h.NodeID }, func(string) int { return k.now.Load().MaxAttempts }
	var source consume.Source = &pgmqueue.Deliveries{
		Pool: h.Own, Handlers: h.Handlers, Session: h.Session, Namespace: h.Namespace, Consumer: s.Consumer, Queue: s.Queue, Node: node, MaxAttempts: attempts,
	}
	if ordered.Is(s.Queue) {
		source = &ordered.Source{
			Pool: h.Own, Handlers: h.Handlers, Session: h.Session, Namespace: h.Namespace, Consumer: s.Consumer, Queue: s.Queue, Node: node, MaxAttempts: attempts,
			Freed: func() { k.loop.Wake() },
		}
	}
	k.loop = consume.NewLoop(engine.Config{
		Handlers: hs, Places: h.LeasedPlaces, NoExpress: ordered.Is(s.Queue), Lease: h.Lease, Poll: h.Poll, Values: h.Handling, Middleware: h.Middleware,
		Observer: h.Observer(s.Consumer, hs.Patterns(), hs.PatternOf), Log: h.Logger, Unavailable: h.Unavailable,
		Announce: func(ctx context.Context, d time.Duration) error { return h.Announce(ctx, s.Queue, d) },
	}, source)
	return k, nil
}

// deliver is the handler of its events. Settings are read every few seconds, so one that is altered may be posted to as it was. No event is given up for
// that, and nothing paused: before a failure that is final counts, the settings are read, and where they changed it is tried as they are now.
func (k *hook) deliver(ctx context.Context, d *nexus.Delivery) error {
	s := k.now.Load()
	err := k.post(ctx, d, s)
	if failure, ok := errors.AsType[*post.Failure](err); ok && failure.Final() {
		if now := k.changed(ctx, s); now != nil {
			s, err = now, k.post(ctx, d, now)
		}
	}
	if failure, ok := errors.AsType[*post.Failure](err); (ok || err == nil) && !s.handles() {
		k.note(ctx, s.Name, failure)
	}
	return err
}

func (k *hook) post(ctx context.Context, d *nexus.Delivery, s *settings) error {
	r, err := s.request(&d.Event)
	if err != nil {
		return err
	}
	return k.client.Send(ctx, r)
}

// maxReply is how much of the answer to a request is read. What a payload may have decides where it is stored.
const maxReply = 16 << 20

// ask is the handler of requests: the answer is the reply, as text unless it is JSON.
func (k *hook) ask(ctx context.Context, d *nexus.Delivery) (any, error) {
	r, err := k.now.Load().request(&d.Event)
	if err != nil {
		return nil, err
	}
	body, err := k.client.Ask(ctx, r, maxReply)
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxReply:
		return nil, answer.ErrTooLarge
	case len(body) == 0:
		return nil, nil
	case json.Valid(body):
		return json.RawMessage(body), nil
	}
	return work.Storable(string(body), maxReply), nil
}

// changed is what the database says now, where that differs from s; nil: it is the same, or cannot be told.
func (k *hook) changed(ctx context.Context, s *settings) *settings {
	now, err := find(ctx, k.host.Own, k.host.Namespace, s.Name, s.Consumer)
	if err != nil || now == nil || now.Queue != s.Queue || reflect.DeepEqual(now, s) {
		return nil
	}
	if now.same(s) {
		k.now.Store(now)
	}
	return now
}

// note tells the database how it goes, but not each time.
func (k *hook) note(ctx context.Context, name string, failure *post.Failure) {
	gone := failure != nil && failure.Gone()
	k.mu.Lock()
	every := everyGood
	if failure != nil {
		every = everyBad
	}
	if !gone && k.failed == (failure != nil) && time.Since(k.noted) < every {
		k.mu.Unlock()
		return
	}
	k.failed, k.noted = failure != nil, time.Now()
	k.mu.Unlock()
	var text any
	if failure != nil {
		text = failure.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
	defer cancel()
	var state *string
	err := db.Call(ctx, k.host.Own, "note_webhook", `select core_node.note_webhook($1::text, $2::text, $3::text, $4::boolean)`,
		[]any{string(k.host.Namespace), name, text, gone}, &state)
	switch {
	case err != nil:
		k.host.Logger.Warn("cannot note how a webhook goes", "webhook", name, "error", err)
	case failure != nil && state != nil && *state == "paused":
		k.host.Logger.Error("a webhook is paused", "namespace", string(k.host.Namespace), "webhook", name, "status", failure.Status)
	}
}
