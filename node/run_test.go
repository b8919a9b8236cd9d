package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

const ns = "shop"

// patient is a lease that ends soon, and that a node can renew in time on a machine that does ten other things.
const patient = 3 * time.Second

// quick retries without waiting for long.
var quick = nexus.RetryPolicy{Base: 10 * time.Millisecond, Max: 10 * time.Millisecond, Jitter: -1}

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	db.Exec(`create table public.effect (event_uid uuid not null, attempt int not null, note text)`)
	db.Exec(`grant select, insert on public.effect to ` + dbtest.Login)
	return db
}

// start runs n until the test ends and fails the test if Run does not end well.
func start(t *testing.T, n *node.Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("Run does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

func emit(t *testing.T, db *dbtest.DB, eventType string, payload any) queue.Receipt {
	t.Helper()
	r, err := queue.Emitter{Namespace: ns}.Emit(t.Context(), db.Pool, eventType, payload, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func effect(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, note string) error {
	_, err := tx.Exec(ctx, `insert into public.effect values ($1, $2, $3)`, d.UID, d.Attempt, note)
	return err
}

// What waits for long may be set aside at any moment, by any node's sweep; it is still undelivered.
const (
	undelivered = `(select message, headers, vt from pgmq.q_core_events_shop
		union all select message, headers, due_at from core.delayed where queue_name = 'core_events_shop') q`
	queueEmpty = `select not exists (select from ` + undelivered + `)`
)

// holds: E1, H1
func TestTransactionalEffectAndAckCommitTogether(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`create table public.settled (xact xid8)`)
	db.Exec(`create function public.note_settled() returns trigger language plpgsql security definer as $$
		begin insert into public.settled values (pg_current_xact_id()); return null; end $$`)
	db.Exec(`create trigger settled after delete on pgmq.q_core_events_shop execute function public.note_settled()`)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("order.placed", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "first") })
	n.On("order.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "second") })
	start(t, n)
	r := emit(t, db, "order.placed", map[string]any{"id": 7})
	db.Wait(queueEmpty)
	got := dbtest.Get[[]string](db, `select array_agg(note order by ctid) from public.effect where event_uid = $1`, r.EventUID.String())
	if want := []string{"first", "second"}; strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("effects %v, want %v in the order of registration", got, want)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect e join public.settled s on s.xact::xid = e.xmin`); n != 2 {
		t.Errorf("%d of the two effects were written by the transaction that settled the event", n)
	}
	if err := n.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
}

// The end of a failed attempt, by what the handler did.
// holds: H1, H6, others-panics
func TestFailedAttempts(t *testing.T) {
	t.Parallel()
	type verdict struct{ reason, action string }
	cases := map[string]struct {
		fn   func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error
		want verdict
	}{
		"error": {func(context.Context, pgx.Tx, *nexus.Delivery) error { return errors.New("boom") }, verdict{"error", "retry"}},
		"panic": {func(context.Context, pgx.Tx, *nexus.Delivery) error { panic("boom") }, verdict{"panic", "retry"}},
		"read only": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, err := tx.Exec(ctx, "set transaction read only")
			return err
		}, verdict{"commit", "retry"}},
		"goexit": {func(context.Context, pgx.Tx, *nexus.Delivery) error { runtime.Goexit(); return nil }, verdict{"panic", "retry"}},
		"typed nil": {func(context.Context, pgx.Tx, *nexus.Delivery) error {
			var e *nilError
			return e
		}, verdict{"error", "retry"}},
		"swallowed": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, _ = tx.Exec(ctx, "select 1/0")
			return nil
		}, verdict{"commit", "retry"}},
		"commits itself": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error { return tx.Commit(ctx) }, verdict{"error", "retry"}},
		"negative retry": {func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Retry(-time.Hour) }, verdict{"error", "retry"}},
		"rejects":        {func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Reject("bad sku") }, verdict{"bad sku", "bury"}},
		"nul in text":    {func(context.Context, pgx.Tx, *nexus.Delivery) error { return errors.New("a\x00b\xff") }, verdict{"error", "retry"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				if d.Attempt > 1 {
					return nil
				}
				return c.fn(ctx, tx, d)
			})
			start(t, n)
			r := emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			got := verdict{
				dbtest.Get[string](db, `select reason from core.delivery_errors where event_uid = $1`, r.EventUID.String()),
				dbtest.Get[string](db, `select action from core.delivery_errors where event_uid = $1`, r.EventUID.String()),
			}
			if got != c.want {
				t.Errorf("recorded %v, want %v", got, c.want)
			}
			effects := dbtest.Get[[]int32](db, `select coalesce(array_agg(attempt), '{}') from public.effect`)
			if c.want.action == "bury" && len(effects) != 0 {
				t.Errorf("a rejected attempt left effects: %v", effects)
			}
			if c.want.action == "retry" && (len(effects) != 1 || effects[0] != 2) {
				t.Errorf("effects of attempts %v, want that of attempt 2 alone", effects)
			}
		})
	}
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics on nil

// holds: D4
func TestReleaseUsesNoAttempt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	seen := make(chan [2]int, 3)
	n.OnLeased("x", func(_ context.Context, d *nexus.Delivery) error {
		seen <- [2]int{d.Attempt, d.Deferrals}
		if d.Deferrals < 2 {
			return nexus.Release(time.Millisecond)
		}
		return nil
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	for i := range 3 {
		if got := <-seen; got != [2]int{1, i} {
			t.Errorf("delivery %d: attempt and deferrals %v, want [1 %d]", i, got, i)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
		t.Errorf("%d failures recorded, want none", n)
	}
}

func TestExhaustedAttemptsAreBuried(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	h := n.OnLeased("x", func(_ context.Context, d *nexus.Delivery) error {
		if d.MaxAttempts != 3 {
			t.Errorf("MaxAttempts %d, want 3", d.MaxAttempts)
		}
		return errors.New("never")
	})
	h.Retry = nexus.RetryPolicy{MaxAttempts: 3, Base: time.Millisecond, Max: time.Millisecond, Jitter: -1}
	start(t, n)
	emit(t, db, "x", map[string]int{"big": 1})
	db.Wait(`select exists (select from core.dead_letters where attempts = 3 and last_error = 'never')`)
	db.Wait(queueEmpty)
	if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors where action = 'retry'`); n != 2 {
		t.Errorf("%d retries recorded, want 2", n)
	}
}

// holds: H2
func TestLeasedAckInsideOwnTransaction(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
		return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			if err := effect(ctx, tx, d, ""); err != nil {
				return err
			}
			return queue.Ack(ctx, tx, d)
		})
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// holds: D3, others-lease
func TestLeaseIsRenewedWhileTheHandlerRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var runs atomic.Int32
	release := make(chan struct{})
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: patient})
	n.OnLeased("x", func(ctx context.Context, _ *nexus.Delivery) error {
		runs.Add(1)
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	start(t, n)
	emit(t, db, "x", nil)
	// The lease has been moved on beyond its first end.
	db.Wait(`select exists (select from pgmq.q_core_events_shop where vt > last_read_at + interval '4 s')`)
	close(release)
	db.Wait(queueEmpty)
	if got := runs.Load(); got != 1 {
		t.Errorf("the handler ran %d times, want once", got)
	}
}

// holds: D3, others-lease
func TestLostLeaseCancelsAndTheLateResultIsRefused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: time.Second})
	cause := make(chan error, 1)
	n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
		if d.Deferrals > 0 { // a read that nobody answered is given back
			return nil
		}
		db.Exec(`update pgmq.q_core_events_shop set read_ct = read_ct + 1`) // another node took it
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nexus.Reject("late")
	})
	start(t, n)
	emit(t, db, "x", nil)
	if err := <-cause; !errors.Is(err, nexus.ErrLeaseLost) {
		t.Errorf("cause %v, want ErrLeaseLost", err)
	}
	db.Wait(queueEmpty)
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
		t.Errorf("the late reject made %d dead letters", n)
	}
}

func TestTimeoutIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	h := n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
		if d.Attempt > 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	h.Timeout = time.Second // enough for the second attempt on a machine that does ten other things
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if r := dbtest.Get[string](db, `select reason from core.delivery_errors`); r != "timeout" {
		t.Errorf("reason %q, want timeout", r)
	}
}

// holds: others-poison
func TestUndecodablePayloadIsNotHandled(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	node.OnT(n, nexus.EventType[int]("x"), func(context.Context, pgx.Tx, *nexus.DeliveryOf[int]) error {
		t.Error("the handler was called")
		return nil
	})
	start(t, n)
	emit(t, db, "x", "no number")
	db.Wait(`select exists (select from core.dead_letters where reason = 'decode')`)
}

func TestHandSentMessageIsUnknownRaw(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	got := make(chan json.RawMessage, 1)
	n.OnLeased("unknown.raw", func(_ context.Context, d *nexus.Delivery) error {
		got <- d.Payload
		return nil
	})
	start(t, n)
	db.Exec(`select pgmq.send('core_events_shop'::text, '[1, "two"]'::jsonb)`)
	if p := <-got; string(p) != `[1, "two"]` {
		t.Errorf("payload %s", p)
	}
}

func TestHandSentMessageThatNobodyHandlesIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	start(t, n)
	db.Exec(`select pgmq.send('core_events_shop'::text, '[1, "two"]'::jsonb)`)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if r := dbtest.Get[string](db, `select reason from core.dead_letters`); r != "not an envelope" {
		t.Errorf("reason %q", r)
	}
}

func TestDelayedEventIsHandledWhenDue(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	r, err := queue.Emitter{Namespace: ns}.Emit(t.Context(), db.Pool, "x", nil, &queue.EmitOptions{Delay: time.Hour})
	if err != nil || r.MessageID != 0 {
		t.Fatalf("receipt %+v, %v; want no message id while delayed", r, err)
	}
	start(t, n)
	db.Wait(`select state = 'active' from core.nodes`)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != 0 {
		t.Error("handled before it was due")
	}
	db.Advance(time.Hour)
	db.Wait(`select exists (select from public.effect)`)
}

// holds: others-unknown
func TestNodeTakesOnlyItsTypes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("mine", func(context.Context, *nexus.Delivery) error { return nil })
	start(t, n)
	emit(t, db, "other", nil)
	emit(t, db, "mine", nil)
	db.Wait(`select not exists (select from pgmq.q_core_events_shop where message ->> 'eventType' = 'mine')`)
	if ct := dbtest.Get[int](db, `select coalesce(max(read_ct), 0) from (select read_ct from pgmq.q_core_events_shop union all select read_ct from core.parked) m`); ct != 0 {
		t.Errorf("an event of another type was read %d times", ct)
	}
}

// holds: N1
func TestRegistrationAndGoodbye(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n1"})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	stop := start(t, n)
	db.Wait(`select state = 'active' from core.nodes where node_id = 'n1'`)
	db.Wait(`select exists (select from core_private.node_capabilities where node_id = 'n1' and key = 'x')`)

	twin := node.New(db.Pool, node.Config{Namespace: ns, ID: "n1"})
	twin.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	if err := twin.Run(t.Context()); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("a twin's Run: %v, want ErrConflict", err)
	}
	stop()
	if s := dbtest.Get[string](db, `select state from core.nodes where node_id = 'n1'`); s != "stopped" {
		t.Errorf("state %s after Run, want stopped", s)
	}
}

// Whoever registered and then cannot begin, or is stopped before, is not waited for.
func TestANodeThatNeverBeganIsStopped(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`drop function core_node.consumer_settings(text, text)`)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	if err := n.Run(t.Context()); err == nil {
		t.Error("Run without the consumer's settings")
	}
	if s := dbtest.Get[string](db, `select state from core.nodes`); s != "stopped" {
		t.Errorf("state %s after Run, want stopped", s)
	}
}

// holds: N4, others-finished
func TestDrainFinishesWhatRunsAndReleasesTheRest(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 1})
	running, finish := make(chan struct{}, 9), make(chan struct{})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		running <- struct{}{}
		<-finish
		return effect(ctx, tx, d, "")
	})
	stop := start(t, n)
	for range 5 {
		emit(t, db, "x", nil)
	}
	<-running
	go func() {
		db.Wait(`select state = 'draining' from core.nodes`)
		close(finish)
	}()
	stop()
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != 1 {
		t.Errorf("%d effects, want that of the one that ran", n)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop where vt <= clock_timestamp()`); n != 4 {
		t.Errorf("%d events free for others, want 4", n)
	}
}

// claimingAhead runs a node with one worker, in a mode that claims ahead, until that waits in its handler while the node has more in hand. The handler
// notes the deferrals of what it gets. goOn lets it return; handled is how many it has begun.
func claimingAhead(t *testing.T, db *dbtest.DB, mode string) (n *node.Node, stop, goOn func(), handled *atomic.Int32) {
	t.Helper()
	cfg := node.Config{Namespace: ns, Workers: 1, Lease: time.Hour, Grace: time.Hour}
	if mode == "OnLeased" {
		cfg.Workers, cfg.LeasedWorkers = 0, 1
	}
	waits, finish, waited := make(chan struct{}), make(chan struct{}), false
	goOn = sync.OnceFunc(func() { close(finish) })
	handled = new(atomic.Int32)
	n = node.New(db.Pool, cfg)
	everyMode(db)[mode](n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		handled.Add(1)
		if !waited {
			if err := db.Owner.QueryRow(ctx, `select count(*) > 1 from pgmq.q_core_events_shop where vt > core.now()`).Scan(&waited); err != nil {
				return err
			}
			if waited {
				close(waits)
				<-finish
			}
		}
		return effect(ctx, tx, d, fmt.Sprint(d.Deferrals))
	})
	stop = start(t, n)
	t.Cleanup(goOn) // before that of start
	emitMany(t, db, claimedAhead)
	select {
	case <-waits:
	case <-time.After(time.Minute):
		t.Fatal("it never claims ahead")
	}
	return n, stop, goOn, handled
}

const claimedAhead = 1000

// What a node has claimed ahead goes to another node at once when it drains: not when the lease ends, and not when its handler does.
//
// holds: N4
func TestWhatADrainingNodeHasClaimedAheadGoesToAnother(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"On", "OnLeased"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			_, stop, goOn, handled := claimingAhead(t, db, mode)
			go stop()
			db.Wait(`select state = 'draining' from core.nodes`)

			other := node.New(db.Pool, node.Config{Namespace: ns, ID: "other"})
			everyMode(db)[mode](other, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "other") })
			start(t, other)
			db.Wait(`select count(*) = 1 from ` + undelivered)
			goOn()
			stop()
			db.Wait(queueEmpty)
			checkEffects(t, db, claimedAhead)
			if got := dbtest.Get[int](db, `select count(*)::int from public.effect where note <> 'other'`); got != int(handled.Load()) {
				t.Errorf("the first node handled %d, want the %d that it had begun", got, handled.Load())
			}
			if got := dbtest.Get[int](db, `select count(*)::int from public.effect where attempt <> 1`); got != 0 {
				t.Errorf("%d took more than one attempt", got)
			}
		})
	}
}

// holds: N4, others-stuck
func TestHandlerThatIgnoresTheEndDoesNotHoldUpTheExit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 50 * time.Millisecond})
	running, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error {
		close(running)
		<-forever
		return nil
	})
	stop := start(t, n)
	emit(t, db, "x", nil)
	<-running
	began := time.Now()
	stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the exit took %s", took)
	}
	if !dbtest.Get[bool](db, `select vt <= clock_timestamp() and (headers ->> 'nexus-deferrals')::int = 1 from pgmq.q_core_events_shop`) {
		t.Error("the event was not given back")
	}
}

func TestWorkRunsInlineWhatIsDue(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	for range 3 {
		emit(t, db, "x", nil)
	}
	for want := 2; want >= 1; want-- {
		if got, err := n.Work(t.Context(), 2); got != want || err != nil {
			t.Fatalf("Work = %d, %v; want %d", got, err, want)
		}
	}
	if got, err := n.Work(t.Context(), 2); got != 0 || err != nil {
		t.Errorf("Work with nothing due = %d, %v", got, err)
	}
}

// holds: N5
func TestBackendsTerminatedUnderLoad(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: 2 * time.Second})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	start(t, n)
	const events = 600
	for i := range events {
		if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Owner, "x", i, nil); err != nil {
			t.Fatal(err)
		}
		if i%150 == 100 {
			db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = current_database()`, dbtest.Login)
		}
	}
	db.Wait(queueEmpty)
	if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.effect`); n != events {
		t.Errorf("%d events had their effect, want %d", n, events)
	}
	if n := dbtest.Get[int](db, `select count(*)::int - count(distinct event_uid)::int from public.effect`); n != 0 {
		t.Errorf("%d effects too many", n)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

func TestWrongConfiguration(t *testing.T) {
	db := newDB(t)
	ok := func(context.Context, *nexus.Delivery) error { return nil }
	for name, c := range map[string]struct {
		cfg   node.Config
		with  func(n *node.Node)
		field string
	}{
		"no namespace":     {node.Config{}, nil, "Config.Namespace"},
		"short lease":      {node.Config{Namespace: ns, Lease: time.Millisecond}, nil, "Config.Lease"},
		"negative poll":    {node.Config{Namespace: ns, Poll: -1}, nil, "Config.Poll"},
		"negative workers": {node.Config{Namespace: ns, Workers: -1}, nil, "Config.Workers"},
		"wake URL":         {node.Config{Namespace: ns, WakeURL: "postgres://a:b@[::"}, nil, "Config.WakeURL"},
		"jitter":           {node.Config{Namespace: ns, Retry: nexus.RetryPolicy{Jitter: 2}}, nil, "Config.Retry"},
		"no function":      {node.Config{Namespace: ns}, func(n *node.Node) { n.On("x", nil) }, "Handler(x)"},
		"mixed modes": {node.Config{Namespace: ns}, func(n *node.Node) {
			n.OnLeased("x", ok)
			n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
		}, "Handler"},
		"pattern":           {node.Config{Namespace: ns}, func(n *node.Node) { n.OnLeased("a*b", ok) }, "p_types"},
		"unknown namespace": {node.Config{Namespace: "nowhere"}, nil, "p_namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			n := node.New(db.Pool, c.cfg)
			if c.with != nil {
				c.with(n)
			}
			err := n.Run(t.Context())
			e, is := errors.AsType[*nexus.Error](err)
			if !is || e.Field != c.field || !strings.HasPrefix(e.Code, "NX") || e.Hint == "" {
				t.Errorf("Run: %v (field %v); want a coded error that names %s and the mend", err, e, c.field)
			}
		})
	}
}
