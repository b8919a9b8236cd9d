package nexustest_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

func TestMain(m *testing.M) { nexustest.Main(m) }

type order struct {
	ID    string
	Cents int64
}

const (
	placed  nexus.EventType[order] = "order.placed"
	counted nexus.EventType[order] = "order.counted"
)

func newNode(env *nexustest.Env) *node.Node {
	return node.New(env.Pool, node.Config{Namespace: env.Namespace, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func emit(t *testing.T, env *nexustest.Env, o order, opts *queue.EmitOptions) queue.Receipt {
	t.Helper()
	r, err := queue.EmitT(t.Context(), env.Pool, env.Emitter, placed, o, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheClockStandsStill(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	first := env.Now()
	if off := time.Since(first); off.Abs() > time.Minute {
		t.Errorf("the clock is off by %s", off)
	}
	emit(t, env, order{}, nil)
	if got := env.Events("*")[0].EmittedAt; !got.Equal(first) {
		t.Errorf("emitted at %s, and the clock stands at %s", got, first)
	}
	env.Advance(90 * time.Minute)
	if moved := env.Now().Sub(first); moved != 90*time.Minute {
		t.Errorf("the clock moved by %s", moved)
	}
}

// Everything is there that became due, also what handlers emit and what was delayed, and nothing else.
func TestWorkRunsWhatIsDue(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	n := newNode(env)
	node.OnT(n, placed, func(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[order]) error {
		_, err := queue.EmitT(ctx, tx, env.Emitter, counted, d.Payload, nil)
		return err
	})
	var handled []string
	node.OnT(n, counted, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[order]) error {
		handled = append(handled, d.Payload.ID)
		return nil
	})
	first := emit(t, env, order{ID: "now", Cents: 1 << 60}, &queue.EmitOptions{
		Headers: map[string]string{"k": "v"}, Tags: []string{"a"}, OrderingKey: "o",
	})
	emit(t, env, order{ID: "in an hour"}, &queue.EmitOptions{Delay: time.Hour})
	if took := env.Work(n); took != 2 {
		t.Errorf("Work took %d deliveries, want the first order and what its handler emitted", took)
	}
	env.Advance(time.Hour - time.Second)
	if took := env.Work(n); took != 0 {
		t.Errorf("%d deliveries before their time", took)
	}
	env.Advance(time.Second)
	if took := env.Work(n); took != 2 {
		t.Errorf("Work took %d deliveries when the delayed one was due", took)
	}
	if want := []string{"now", "in an hour"}; !slices.Equal(handled, want) {
		t.Errorf("handled %q, want %q", handled, want)
	}

	if got := nexustest.Payloads(env, counted); len(got) != 2 || got[0] != (order{"now", 1 << 60}) || got[1].ID != "in an hour" {
		t.Errorf("payloads %+v", got)
	}
	events := env.Events("order.*")
	if len(events) != 4 || len(env.Events("other")) != 0 {
		t.Fatalf("%d events of order.*", len(events))
	}
	e, effect := events[0], events[2]
	if e.UID != first.EventUID || e.ID != first.EventID || e.Namespace != "shop" || e.Type != string(placed) || e.Headers["k"] != "v" ||
		!slices.Equal(e.Tags, []string{"a"}) || e.OrderingKey != "o" || e.Depth != 0 || !e.AuthoredAt.IsZero() || !e.Slot.IsZero() {
		t.Errorf("event %+v", e)
	}
	if effect.CausationUID != e.UID || effect.Depth != 1 || effect.CorrelationID != e.UID.String() {
		t.Errorf("what the handler emitted: %+v", effect)
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	n := newNode(env)
	h := node.OnT(n, placed, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[order]) error {
		if d.Payload.ID == "bad" {
			return nexus.Reject("no such order")
		}
		return errors.New("boom")
	})
	h.Retry = nexus.RetryPolicy{MaxAttempts: 2, Base: time.Minute, Max: time.Minute, Jitter: -1}
	emit(t, env, order{ID: "bad"}, nil)
	emit(t, env, order{ID: "worse"}, nil)
	if env.Work(n); len(env.DeadLetters()) != 1 {
		t.Fatalf("dead letters before the last attempt: %+v", env.DeadLetters())
	}
	env.Advance(time.Minute)
	env.Work(n)
	got := env.DeadLetters()
	if len(got) != 2 || got[0].Reason != "no such order" || got[0].Attempts != 1 || got[0].Consumer != "default" ||
		got[1].Attempts != 2 || got[1].LastError != "boom" || got[1].Type != string(placed) || got[1].ID == 0 || len(got[1].Payload) == 0 {
		t.Errorf("dead letters %+v", got)
	}
}

func TestEnvironmentsAreApart(t *testing.T) {
	t.Parallel()
	a, b := nexustest.New(t, "shop"), nexustest.New(t, "shop")
	emit(t, a, order{}, nil)
	if n := len(b.Events("*")); n != 0 {
		t.Errorf("%d events of another test", n)
	}
}

// A program's own migrations run as the login, and its handlers write the tables.
func TestTheLoginOwnsItsTables(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	if _, err := env.Pool.Exec(t.Context(), "create schema app; create table app.orders (id text primary key); create table seen (id text)"); err != nil {
		t.Fatal(err)
	}
	var super bool
	if err := env.Pool.QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").Scan(&super); err != nil || super {
		t.Errorf("superuser %t, %v", super, err)
	}
	for url, want := range map[string]bool{env.URL: false, env.SuperuserURL: true} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if err := conn.QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").Scan(&super); err != nil || super != want {
			t.Errorf("superuser %t, %v; want %t", super, err, want)
		}
	}
}

// A handler that never gets done fails the test instead of hanging it.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	fake := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		env := nexustest.New(fake, "shop")
		env.AtMost(20)
		n := newNode(env)
		n.OnLeased("*", func(context.Context, *nexus.Delivery) error { return nexus.Release(0) })
		emit(t, env, order{}, nil)
		env.Work(n)
	}()
	<-done
	if !fake.failed {
		t.Error("Work ended, although there is always something due")
	}
}

func TestDelivery(t *testing.T) {
	d := nexustest.Delivery(placed, order{ID: "1", Cents: 7})
	if d.Payload.Cents != 7 || d.Type != string(placed) || d.Attempt != 1 || d.MaxAttempts != 10 || d.Consumer != "default" ||
		string(d.Delivery.Payload) != `{"ID":"1","Cents":7}` || d.IdempotencyKey() == nexustest.Delivery(placed, order{}).IdempotencyKey() {
		t.Errorf("%+v", d.Delivery)
	}
	defer func() {
		if recover() == nil {
			t.Error("a payload that is no JSON passes")
		}
	}()
	nexustest.Delivery(nexus.EventType[func()]("f"), func() {})
}

// failing takes note of a failure that is expected.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Fatalf(string, ...any) {
	f.failed = true
	runtime.Goexit()
}

func (f *failing) Errorf(string, ...any) { f.failed = true }

// What a node declares holds in a test too: tasks fire when the clock has moved, and one-shots.
// holds: work (nexustest)
func TestDeclaredTasksFire(t *testing.T) {
	t.Parallel()
	env := nexustest.New(t, "shop")
	n := newNode(env)
	n.Add(schedule.Declared{Owner: "shop", Tasks: []schedule.Task{
		{Name: "close-day", Cron: "30 2 * * *", Zone: "Europe/Berlin", Type: string(placed), Payload: order{ID: "nightly"}},
	}})
	var got []string
	h := node.OnT(n, placed, func(_ context.Context, _ pgx.Tx, d *nexus.DeliveryOf[order]) error {
		got = append(got, d.Payload.ID)
		return errors.New("no")
	})
	h.Retry.MaxAttempts = 1
	if took := env.Work(n); took != 0 {
		t.Errorf("%d deliveries before anything is due", took)
	}
	env.Advance(24 * time.Hour)
	if took := env.Work(n); took != 1 || len(got) != 1 || got[0] != "nightly" {
		t.Errorf("%d deliveries, %v", took, got)
	}
	if letters := env.DeadLetters(); len(letters) != 1 || letters[0].Attempts != 1 {
		t.Errorf("dead letters %+v, want one of one attempt", letters)
	}
}
