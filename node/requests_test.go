package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type (
	question struct {
		What string `json:"what"`
		N    int64  `json:"n,omitempty"`
	}
	reply struct {
		N     int64 `json:"n"`
		Depth int   `json:"depth"`
	}
)

const price nexus.EventType[question] = "price"

var asker = queue.Emitter{Namespace: ns, Producer: "tester"}

// answers waits until a node has a handler that requests can ask.
func answers(t *testing.T, db *dbtest.DB, name string) {
	t.Helper()
	db.Wait(`select exists (select from core_private.node_capabilities c join core.nodes n using (node_id) where c.consumer = 'requests' and c.key = 'go:` + name + `' and n.state = 'active')`)
}

func quiet(c node.Config) node.Config {
	c.Namespace, c.Logger = ns, slog.New(slog.NewTextHandler(io.Discard, nil))
	return c
}

// Nothing of a request is left once it is over: no message, no row, no dead letter.
const nothingLeft = `select not exists (select from pgmq.q_core_events_shop__requests) and not exists (select from core.inbox) and not exists (select from core.dead_letters)`

// R5: each end of a handler is a status.
// holds: R5, others-panics (requests)
func TestRequestsEndByStatus(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`select core.alter_namespace('shop', '{"max_payload_bytes": 2000}')`)
	reg := prometheus.NewRegistry()
	var late atomic.Int64
	n := node.New(db.Pool, quiet(node.Config{Registerer: reg}))
	node.OnRequest(n, price, func(ctx context.Context, d *nexus.DeliveryOf[question]) (any, error) {
		if d.Attempt != 1 || d.MaxAttempts != 1 || d.Target != "go:price" || d.Type != "price" || d.Consumer != "requests" {
			return nil, fmt.Errorf("attempt %d of %d, target %q, type %q, consumer %q", d.Attempt, d.MaxAttempts, d.Target, d.Type, d.Consumer)
		}
		switch d.Payload.What {
		case "error":
			return nil, errors.New("boom")
		case "panic":
			panic("boom")
		case "goexit":
			runtime.Goexit()
		case "typed nil":
			var e *nilError
			return nil, e
		case "reject":
			return nil, fmt.Errorf("no: %w", nexus.Reject("out of stock"))
		case "release":
			return nil, nexus.Release(time.Second)
		case "retry":
			return nil, nexus.Retry(time.Second)
		case "unwritable":
			return func() {}, nil
		case "beyond":
			return json.RawMessage("1e400"), nil
		case "large":
			return strings.Repeat("x", 2000), nil
		case "null":
			return nil, nil
		case "late":
			late.Add(1)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return reply{d.Payload.N, d.Depth}, nil
	})
	start(t, n)
	answers(t, db, "price")

	got, err := queue.Request[reply](t.Context(), db.Pool, asker, price, question{N: 9007199254740993})
	if err != nil || got != (reply{N: 9007199254740993}) {
		t.Errorf("the reply is %v, %v", got, err)
	}
	// What a handler asks follows from what it handles.
	ctx := nexus.WithDelivery(t.Context(), &nexus.Delivery{Event: nexus.Event{Depth: 3, UID: uuid.New()}})
	if got, err = queue.Request[reply](ctx, db.Pool, asker, price, question{}); err != nil || got.Depth != 4 {
		t.Errorf("asked by a handler: %v, %v", got, err)
	}
	if got, err := queue.Request[*reply](t.Context(), db.Pool, asker, price, question{What: "null"}); err != nil || got != nil {
		t.Errorf("null is %v, %v", got, err)
	}
	for what, want := range map[string]struct {
		status int
		begins string
	}{
		"error": {500, "boom"}, "panic": {500, "panic: boom"}, "goexit": {500, "the handler ended its goroutine (runtime.Goexit)"},
		"typed nil": {500, "*node_test.nilError, whose Error method panics: "}, "reject": {422, "out of stock"}, "release": {503, "release after 1s"}, "retry": {503, "retry after 1s"},
		"unwritable": {500, "the reply: p_reply cannot be written as JSON: json: unsupported type: func()"}, "beyond": {500, "the reply: p_reply "}, "large": {507, "the reply has 2002 bytes, at most 2000 are allowed"},
	} {
		_, err := queue.Request[json.RawMessage](t.Context(), db.Pool, asker, price, question{What: what})
		if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != want.status || !strings.HasPrefix(e.Message, want.begins) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err = queue.Request[reply](t.Context(), db.Pool, asker, nexus.EventType[int](price), 7)
	if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != 422 {
		t.Errorf("a payload that does not fit: %v", err)
	}
	_, err = queue.Request[reply](t.Context(), db.Pool, asker, "other", 7)
	if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != 503 || e.Message != "no live node has the handler go:other" {
		t.Errorf("a handler that nobody has: %v", err)
	}
	if _, err = queue.Request[int](t.Context(), db.Pool, asker, price, question{}); err == nil || !strings.Contains(err.Error(), "decode the reply") {
		t.Errorf("a reply that does not fit: %v", err)
	}
	// The caller's time is the request's.
	tries := 0
	for wait := 100 * time.Millisecond; late.Load() == 0; wait *= 2 { // until it begins in time, however busy the machine is
		tries++
		soon, cancel := context.WithTimeout(t.Context(), wait)
		_, err = queue.Request[int](soon, db.Pool, asker, price, question{What: "late"})
		cancel()
		if e, ok := errors.AsType[*queue.ReplyError](err); (!ok || e.Status != 504) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("late: %v", err)
		}
	}
	db.Wait(nothingLeft)
	if n := dbtest.Get[int64](db, `select count(*) from core.abandoned_executions where status = 504 and why = 'nobody waits'`); n != late.Load() {
		t.Errorf("%d late runs, and %d abandoned executions", late.Load(), n)
	}
	eventually(t, "the last one is counted", time.Minute, func() bool { return scrape(t, reg)["requests_total shop abandoned"] == float64(late.Load()) })
	values := scrape(t, reg)
	for name, want := range map[string]float64{
		"requests_total shop 200": 4, "requests_total shop 500": 6, "requests_total shop 422": 2, "requests_total shop 503": 2, "requests_total shop 507": 1, "requests_total shop abandoned": float64(late.Load()),
		"request_duration_seconds shop": 15,
	} {
		if values[name] != want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log where event_type = 'price' and producer_node_id = 'tester'`); n != 15+tries {
		t.Errorf("the log has %d requests", n)
	}
}

// R1, R3, R4: begun and rolled back, cancelled, and answered when nobody waits any more.
// holds: R4
func TestRequestsOfCallersWhoGo(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var runs atomic.Int64
	running, goOn := make(chan struct{}, 10), make(chan struct{})
	n := node.New(db.Pool, quiet(node.Config{}))
	node.OnRequest(n, price, func(_ context.Context, d *nexus.DeliveryOf[question]) (string, error) {
		runs.Add(1)
		if d.Payload.What == "slow" {
			running <- struct{}{}
			<-goOn
		}
		return "done", nil
	})
	start(t, n)
	answers(t, db, "price")

	// rolled back
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var id uuid.UUID
	if err := tx.QueryRow(t.Context(), `select core.request('shop', 'price')`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback(t.Context())
	if got, err := queue.Request[string](t.Context(), db.Pool, asker, price, question{}); err != nil || got != "done" {
		t.Fatalf("%q, %v", got, err)
	}
	if runs.Load() != 1 {
		t.Errorf("%d runs of one request and one that was rolled back", runs.Load())
	}
	// the context ends while the handler runs
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := queue.Request[string](ctx, db.Pool, asker, price, question{What: "slow"})
		asked <- err
	}()
	<-running
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left hears %v", err)
	}
	db.Wait(`select not exists (select from core.inbox)`)
	// the time is over while the handler runs, which does not mind
	expired := dbtest.Get[string](db, `select core.request('shop', 'price', '{"what": "slow"}')::text`)
	<-running
	db.Exec(`update core.inbox set expires_at = core.now()`)
	if got := dbtest.Get[string](db, `select state || ' ' || status from core.await_reply('`+expired+`')`); got != "expired 504" {
		t.Errorf("a caller whose time is over hears %s", got)
	}
	close(goOn)
	db.Wait(`select count(*) = 2 and bool_and(status = 200 and why = 'nobody waits' and summary = '"done"') from core.abandoned_executions`)
	db.Wait(nothingLeft)
	if runs.Load() != 3 {
		t.Errorf("%d runs, want 3", runs.Load())
	}
}

// R5: a node that drains says so to whoever asks, and takes nothing new.
// holds: R5 (draining)
func TestRequestsOfNodesThatDrain(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	running := make(chan struct{}, 1)
	n := node.New(db.Pool, quiet(node.Config{Grace: 50 * time.Millisecond}))
	node.OnRequest(n, price, func(ctx context.Context, _ *nexus.DeliveryOf[question]) (string, error) {
		running <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	stop := start(t, n)
	answers(t, db, "price")
	asked := make(chan error, 1)
	go func() {
		_, err := queue.Request[string](t.Context(), db.Pool, asker, price, question{})
		asked <- err
	}()
	<-running
	stop()
	err := <-asked
	if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != 503 || e.Message != "the node drained" {
		t.Errorf("whoever asked hears %v", err)
	}
	_, err = queue.Request[string](t.Context(), db.Pool, asker, price, question{})
	if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != 503 {
		t.Errorf("whoever asks then hears %v", err)
	}
	db.Wait(nothingLeft)
}

// R1: what ran in a process that was lost does not run again, and whoever asked hears so when the lease ends. A process that is killed while it waits
// leaves its reply to be found.
// holds: R1 (killed), R3 (killed)
func TestRequestsOfProcessesThatAreKilled(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	child := func(mode string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), envChildURL+"="+db.URL, envChildMode+"="+mode)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	killer := child("request killer")
	answers(t, db, "price")
	asked := make(chan error, 1)
	go func() {
		_, err := queue.Request[string](t.Context(), db.Pool, asker, price, question{What: "die"})
		asked <- err
	}()
	_ = killer.Wait()
	var runs atomic.Int64
	n := node.New(db.Pool, quiet(node.Config{}))
	node.OnRequest(n, price, func(context.Context, *nexus.DeliveryOf[question]) (string, error) {
		runs.Add(1)
		return "done", nil
	})
	start(t, n)
	err := <-asked
	if e, ok := errors.AsType[*queue.ReplyError](err); !ok || e.Status != 502 || runs.Load() != 0 {
		t.Errorf("whoever asked a process that died hears %v, after %d more runs", err, runs.Load())
	}

	waits := child("request caller")
	db.Wait(`select exists (select from core.event_log where payload @> '{"what": "killed"}')`)
	db.Wait(`select exists (select from core.inbox where state = 'answered')`)
	_ = waits.Process.Kill()
	_ = waits.Wait()
	db.Exec(`update core.inbox set expires_at = core.now() - interval '2 s'`) // its deadline, come early
	db.Exec(`select core.run_sweep('requests')`)
	if got := dbtest.Get[string](db, `select string_agg(concat_ws(' ', status, why, summary), ', ') from core.abandoned_executions`); got != `200 not taken "done"` {
		t.Errorf("of a caller who was killed is left: %s", got)
	}
	db.Wait(nothingLeft)
}

// requestChild is a process that dies while it answers, or one that asks and never takes the reply.
func requestChild(ctx context.Context, pool *pgxpool.Pool, mode string) error {
	if mode == "request caller" {
		var id uuid.UUID
		if err := pool.QueryRow(ctx, `select core.request('shop', 'price', '{"what": "killed"}')`).Scan(&id); err != nil {
			return err
		}
		select {}
	}
	n := node.New(pool, quiet(node.Config{ID: "killer", Lease: time.Second}))
	node.OnRequest(n, price, func(context.Context, *nexus.DeliveryOf[question]) (string, error) {
		os.Exit(137)
		return "", nil
	})
	return n.Run(ctx)
}

// What a request cannot have is refused by name.
func TestOnRequestIsRefused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	ok := func(context.Context, *nexus.DeliveryOf[question]) (string, error) { return "", nil }
	for field, register := range map[string]func(n *node.Node){
		"Handler(go:a).Retry":   func(n *node.Node) { node.OnRequest(n, "a", ok).Retry.MaxAttempts = 2 },
		"Handler(go:a).Batch":   func(n *node.Node) { node.OnRequest(n, "a", ok).Batch = 2 },
		"Handler(go:a).Express": func(n *node.Node) { node.OnRequest(n, "a", ok).Express = true },
		"Handler(go:a)":         func(n *node.Node) { node.OnRequest[question, string](n, "a", nil) },
		"Handler(go:b)": func(n *node.Node) {
			n.Routed("requests").OnLeased("b", func(context.Context, *nexus.Delivery) error { return nil })
		},
		"Handler(go:a.*)": func(n *node.Node) { node.OnRequest(n, "a.*", ok) },
	} {
		n := node.New(db.Pool, quiet(node.Config{}))
		register(n)
		_, err := n.Work(t.Context(), 1)
		if e, is := errors.AsType[*nexus.Error](err); !is || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
