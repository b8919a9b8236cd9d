package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// What a handler may count on, where it takes more than the end of one attempt to see it.

func TestRetryVerdictIsExactAndBeyondThePolicysMax(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if d.Attempt == 1 {
			return fmt.Errorf("later: %w", nexus.Retry(2*time.Hour))
		}
		return effect(ctx, tx, d, "")
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select vt between core.now() + interval '119 min' and core.now() + interval '120 min' from ` + undelivered)
	db.Advance(2 * time.Hour)
	db.Wait(queueEmpty)
	if a := dbtest.Get[int](db, `select attempt from public.effect`); a != 2 {
		t.Errorf("attempt %d, want 2", a)
	}
}

// The delay counts from the end of the attempt, however long that took.
// holds: others-from-the-end
func TestRetryDelayCountsFromTheEnd(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{
		// The hour that the clock is moved by must not end the lease: a sweep would take the event before it is settled.
		Namespace: ns, Lease: 3 * time.Hour, Retry: nexus.RetryPolicy{Base: time.Minute, Jitter: -1},
	})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error {
		db.Advance(time.Hour)
		return errors.New("slow and bad")
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select vt between core.now() + interval '50 s' and core.now() + interval '61 s' from pgmq.q_core_events_shop where headers ? 'nexus-failures'`)
}

// A database that is stricter than this package must not make an event go round, nor hide why it failed.
// holds: H3-verdicts
func TestVerdictThatTheDatabaseRefusesIsARetry(t *testing.T) {
	t.Parallel()
	modes := maps.Clone(sharing)
	modes["On"] = func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		return n.On(pattern, fn)
	}
	modes["OnLeased"] = func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		return n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error { return fn(ctx, nil, d) })
	}
	for mode, on := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			db.Exec(`do $$ begin
				execute replace(pg_get_functiondef('core_private.parse_verdicts'::regproc), $q$interval '30 days'$q$, $q$interval '1 hour'$q$);
			end $$`)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			on(n, "x", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
				if d.Attempt == 1 {
					return nexus.Retry(2 * time.Hour)
				}
				return nil
			})
			on(n, "once", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Retry(2 * time.Hour) }).Retry.MaxAttempts = 1
			on(n, "y", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
			start(t, n)
			x, once := emit(t, db, "x", nil), emit(t, db, "once", nil)
			emit(t, db, "y", nil)
			db.Wait(queueEmpty)
			recorded := `select coalesce(string_agg(concat_ws(' ', action, reason, error), '; '), '') from core.delivery_errors where event_uid = $1`
			if text := dbtest.Get[string](db, recorded, x.EventUID.String()); !strings.HasPrefix(text, "retry error the verdict was refused") || strings.Contains(text, "; ") {
				t.Errorf("recorded %q, want once that the verdict was refused", text)
			}
			if text := dbtest.Get[string](db, recorded, once.EventUID.String()); !strings.HasPrefix(text, "bury error the verdict was refused") {
				t.Errorf("at the last attempt: recorded %q, want a burial that says that the verdict was refused", text)
			}
		})
	}
}

// A verdict outside the bounds is settled at the nearer one, and at the last attempt the dead letter says what happened.
// holds: H3-verdicts, others-backoff
func TestVerdictsAreBounded(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	far := 1000 * 24 * time.Hour
	n.OnLeased("retry", func(context.Context, *nexus.Delivery) error { return nexus.Retry(far) })
	n.OnLeased("release", func(context.Context, *nexus.Delivery) error { return nexus.Release(far) })
	n.OnLeased("once", func(context.Context, *nexus.Delivery) error { return nexus.Retry(far) }).Retry.MaxAttempts = 1
	n.OnLeased("past", func(_ context.Context, d *nexus.Delivery) error {
		if d.Deferrals == 0 {
			return nexus.Release(-far)
		}
		return nexus.Retry(-far)
	}).Retry.MaxAttempts = 2
	start(t, n)
	for _, kind := range []string{"retry", "release", "once", "past"} {
		emit(t, db, kind, nil)
	}
	db.Wait(`select count(*) = 2 from core.dead_letters`)
	got := dbtest.Get[string](db, `select string_agg(concat_ws(' ', event_type, attempts, reason), ', ' order by event_type) from core.dead_letters`)
	if want := "once 1 error, past 2 error"; got != want {
		t.Errorf("dead letters %q, want %q", got, want)
	}
	db.Wait(`select count(*) = 2 from ` + undelivered + `
		where (headers ->> 'nexus-due')::timestamptz between core.now() + interval '29 days' and core.now() + interval '30 days'`)
}

// Whoever ends the transaction by a statement has committed without the ack. Another attempt would do it again.
// holds: H1-ended
func TestEndingTheTransactionByAStatementBuries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql []string
		err error
	}{
		"commit":              {[]string{"commit"}, nil},
		"rollback":            {[]string{"rollback"}, nil},
		"commit and an error": {[]string{"commit"}, errors.New("boom")},
		"commit and a retry":  {[]string{"commit"}, nexus.Retry(time.Hour)},
		"commit, begin":       {[]string{"commit", "begin", "insert into public.effect values (gen_random_uuid(), 9)"}, nil},
		"commit; begin":       {[]string{"commit; begin"}, nil},
		"commit and chain":    {[]string{"commit and chain"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			var calls atomic.Int32
			n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				calls.Add(1)
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				for _, sql := range c.sql {
					if _, err := tx.Exec(ctx, sql); err != nil {
						t.Error(err)
					}
				}
				return c.err
			})
			n.On("y", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "y") })
			start(t, n)
			emit(t, db, "x", nil)
			db.Wait(`select exists (select from core.dead_letters where reason = 'transaction ended' and attempts = 1)`)
			emit(t, db, "y", nil)
			db.Wait(queueEmpty)
			if n := calls.Load(); n != 1 {
				t.Errorf("called %d times, want once", n)
			}
			if n := dbtest.Get[int](db, `select count(*) from public.effect where attempt <> 1`); n != 0 {
				t.Error("the transaction that the handler began was committed")
			}
		})
	}
}

func TestTransactionalReleaseLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := effect(ctx, tx, d, fmt.Sprint(d.Deferrals)); err != nil {
			return err
		}
		if d.Deferrals == 0 {
			return nexus.Release(time.Hour)
		}
		return nil
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select vt > core.now() + interval '59 min' from ` + undelivered + ` where headers ? 'nexus-due'`)
	db.Advance(time.Hour)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select string_agg(format('%s/%s', attempt, note), ',') from public.effect`); got != "1/1" {
		t.Errorf("effects attempt/deferrals %s, want 1/1 alone", got)
	}
}

func TestFailureAtCommitIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`create table public.parent (id int primary key)`)
	db.Exec(`create table public.child (parent int references public.parent deferrable initially deferred)`)
	db.Exec(`grant insert on public.child to ` + dbtest.Login)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if d.Attempt > 1 {
			return effect(ctx, tx, d, "")
		}
		_, err := tx.Exec(ctx, `insert into public.child values (7)`)
		return err
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select reason || ': ' || error from core.delivery_errors`); !strings.HasPrefix(got, "commit: ") || !strings.Contains(got, "child_parent_fkey") {
		t.Errorf("recorded %q, want reason commit and the constraint's name", got)
	}
}

func TestNestedTransactionIsASavepoint(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := effect(ctx, tx, d, "outer"); err != nil {
			return err
		}
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			if err := effect(ctx, tx, d, "inner"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "select 1/0")
			return err
		})
		if err == nil {
			return errors.New("1/0 is a number")
		}
		return nil
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select string_agg(note, ',') from public.effect`); got != "outer" {
		t.Errorf("effects %s, want outer alone", got)
	}
}

func TestOneErrorUndoesAllHandlersOfTheEvent(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "first") })
	n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return errors.New("second fails") })
	n.On("x", func(context.Context, pgx.Tx, *nexus.Delivery) error {
		t.Error("the third was called after the second had failed")
		return nil
	})
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select exists (select from core.dead_letters)`)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != 0 {
		t.Errorf("%d effects of the first are left", n)
	}
}

type valueKey struct{}

func TestContextOfAHandler(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Timeout: time.Hour})
	type seen struct {
		value    any
		delivery bool
		deadline time.Duration
	}
	got := make(chan seen, 2)
	look := func(ctx context.Context, d *nexus.Delivery) {
		from, ok := nexus.DeliveryFrom(ctx)
		s := seen{value: ctx.Value(valueKey{}), delivery: ok && from == d}
		if end, ok := ctx.Deadline(); ok {
			s.deadline = time.Until(end).Round(time.Minute)
		}
		got <- s
	}
	n.On("x", func(ctx context.Context, _ pgx.Tx, d *nexus.Delivery) error { look(ctx, d); return nil })
	endless := n.OnLeased("y", func(ctx context.Context, d *nexus.Delivery) error { look(ctx, d); return nil })
	endless.Timeout = -1
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), valueKey{}, "v"))
	done := make(chan error)
	go func() { done <- n.Run(ctx) }()
	emit(t, db, "x", nil)
	if diff := cmp.Diff(seen{"v", true, time.Hour}, <-got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
	emit(t, db, "y", nil)
	if diff := cmp.Diff(seen{"v", true, 0}, <-got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A slot survives whatever a handler does to its goroutine.
// holds: others-panics
func TestSlotLivesOn(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, LeasedWorkers: 1, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	ends := []func() error{
		func() error { panic("value") },
		func() error { panic(error(nil)) },
		func() error { runtime.Goexit(); return nil },
		func() error { var e *nilError; return e },
		func() error { return fmt.Errorf("%w", panics{}) },
		func() error { var m map[string]int; write(m); return nil },
	}
	var calls atomic.Int32
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return ends[int(calls.Add(1))-1]() })
	n.OnLeased("good", func(context.Context, *nexus.Delivery) error { return nil })
	start(t, n)
	for range ends {
		emit(t, db, "x", nil)
		emit(t, db, "good", nil)
	}
	db.Wait(queueEmpty)
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != len(ends) {
		t.Errorf("%d dead letters, want %d", n, len(ends))
	}
	stacks := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where reason = 'panic' and last_error like '%node/contract_test.go%'`)
	if stacks != 4 {
		t.Errorf("%d failures have the handler's stack, want those of 3 panics and 1 Goexit", stacks)
	}
}

func write(m map[string]int) { m["x"] = 1 }

type panics struct{}

func (panics) Error() string { panic("in Error") }

func TestTimeoutEndsAStatement(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	h := n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := effect(ctx, tx, d, ""); err != nil || d.Attempt > 1 {
			return err
		}
		_, err := tx.Exec(ctx, "select pg_sleep(3600)")
		return err
	})
	h.Timeout = time.Second // enough for the second attempt on a machine that does ten other things
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select reason from core.delivery_errors`); got != "timeout" {
		t.Errorf("reason %s", got)
	}
	if got := dbtest.Get[string](db, `select string_agg(attempt::text, ',') from public.effect`); got != "2" {
		t.Errorf("effects of attempts %s, want 2 alone", got)
	}
}

// A handler that does not come back loses its connection and its event; its worker is free again when it returns at last.
func TestHandlerThatStaysAfterItsTimeout(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"transactional", "leased"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			cfg := node.Config{Namespace: ns, Workers: 2, Retry: quick}
			if mode == "leased" {
				cfg.Workers, cfg.LeasedWorkers = 0, 2
			}
			n := node.New(db.Pool, cfg)
			release, second := make(chan struct{}), make(chan int, 9)
			var h *node.Handler
			if mode == "leased" {
				h = n.OnLeased("x", func(_ context.Context, d *nexus.Delivery) error {
					if d.Attempt == 1 {
						<-release
						return nexus.Reject("too late to count")
					}
					second <- d.Attempt
					return nil
				})
			} else {
				h = n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
					if err := effect(ctx, tx, d, ""); err != nil {
						return err
					}
					if d.Attempt == 1 {
						<-release
						return nil
					}
					second <- d.Attempt
					return nil
				})
			}
			h.Timeout = time.Second // enough for the second attempt on a machine that does ten other things
			stop := start(t, n)
			emit(t, db, "x", nil)
			if a := <-second; a != 2 {
				t.Errorf("attempt %d, want 2", a)
			}
			db.Wait(queueEmpty)
			if mode == "transactional" {
				db.Wait(`select not exists (select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%')`)
				if got := dbtest.Get[string](db, `select string_agg(attempt::text, ',') from public.effect`); got != "2" {
					t.Errorf("effects of attempts %s, want 2 alone", got)
				}
			}
			if got := dbtest.Get[string](db, `select string_agg(reason, ',') from core.delivery_errors`); got != "timeout" {
				t.Errorf("recorded %s, want one timeout", got)
			}
			close(release)
			stop()
			if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
				t.Error("the late verdict counted")
			}
		})
	}
}

func TestTransactionalHandlerWhoseLeaseIsLost(t *testing.T) {
	t.Parallel()
	for _, returns := range []error{nil, errors.New("late")} {
		t.Run(fmt.Sprint(returns), func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Lease: patient})
			cause := make(chan error, 1)
			n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				reads := d.Attempt + d.Deferrals // those that nobody answered are given back
				if err := effect(ctx, tx, d, strconv.Itoa(reads)); err != nil || reads > 1 {
					return err
				}
				db.Exec(`update pgmq.q_core_events_shop set read_ct = read_ct + 1`) // another node took it
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return returns
			})
			start(t, n)
			emit(t, db, "x", nil)
			if err := <-cause; !errors.Is(err, nexus.ErrLeaseLost) {
				t.Errorf("cause %v", err)
			}
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(note, ',') from public.effect`); got != "3" {
				t.Errorf("effects of reads %s, want that of the next owner alone", got)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d failures recorded for a lease that was lost", n)
			}
		})
	}
}

func TestAckOfAHandlersOwnTransaction(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		commit   bool
		returns  error
		attempts int // until the event is settled
	}{
		"committed":               {true, nil, 1},
		"committed, then failed":  {true, boom, 1},
		"rolled back, then fails": {false, boom, 2},
		"rolled back, returns ok": {false, nil, 1}, // what it returns counts as usual
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			var attempts atomic.Int32
			n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
				if attempts.Add(1) > 1 {
					return nil
				}
				tx, err := db.Pool.Begin(ctx)
				if err != nil {
					return err
				}
				defer func() { _ = tx.Rollback(ctx) }()
				if err := errors.Join(effect(ctx, tx, d, ""), queue.Ack(ctx, tx, d)); err != nil {
					return err
				}
				if c.commit {
					if err := tx.Commit(ctx); err != nil {
						return err
					}
				}
				return c.returns
			})
			stop := start(t, n)
			emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			stop()
			if got := int(attempts.Load()); got != c.attempts {
				t.Errorf("%d attempts, want %d", got, c.attempts)
			}
			want := 0
			if c.commit {
				want = 1
			}
			if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != want {
				t.Errorf("%d effects, want %d", n, want)
			}
		})
	}
}

// Acking makes the node lose the lease; that must not cancel what the handler does afterwards.
func TestHandlerGoesOnAfterItsAck(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: time.Second})
	acked, held, goOn, ended := make(chan struct{}), make(chan int64, 1), make(chan struct{}), make(chan error, 1)
	n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
		if err := queue.Ack(ctx, db.Pool, d); err != nil {
			return err
		}
		close(acked)
		<-goOn
		ended <- context.Cause(ctx)
		return nil
	})
	// Its lease tells when those of the node have been renewed.
	n.OnLeased("witness", func(_ context.Context, d *nexus.Delivery) error {
		held <- d.MessageID
		<-goOn
		return nil
	})
	start(t, n)
	emit(t, db, "witness", nil)
	witness := <-held
	emit(t, db, "x", nil)
	<-acked
	const until = `select vt from pgmq.q_core_events_shop where msg_id = $1`
	for range 4 { // a third of a lease each
		db.Wait("select ("+until+") > $2", witness, dbtest.Get[time.Time](db, until, witness))
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Errorf("the handler was cancelled: %v", err)
	}
}

func TestDeliveryCarriesTheEvent(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	got := make(chan *nexus.Delivery, 1)
	n.OnLeased("*", func(_ context.Context, d *nexus.Delivery) error {
		got <- d
		return nil
	})
	start(t, n)
	authored := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	r, err := queue.Emitter{Namespace: ns, Producer: "till"}.Emit(t.Context(), db.Pool, "order.placed", map[string]any{"big": 12345678901234567}, &queue.EmitOptions{
		OrderingKey: "k", CorrelationID: "c", AuthoredAt: authored, Tags: []string{"a", "b"}, Headers: map[string]string{"traceparent": "00-x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := <-got
	if d.EmittedAt.IsZero() {
		t.Error("EmittedAt is unset")
	}
	want := &nexus.Delivery{
		Event: nexus.Event{
			ID: r.EventID, UID: r.EventUID, Namespace: ns, Type: "order.placed", Payload: []byte(`{"big": 12345678901234567}`), EmittedAt: d.EmittedAt,
			AuthoredAt: authored, ProducerNodeID: "till", CorrelationID: "c", OrderingKey: "k", Tags: []string{"a", "b"},
			Headers: map[string]string{"traceparent": "00-x"},
		},
		Consumer: "default", MessageID: r.MessageID, Attempt: 1, MaxAttempts: 10,
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreUnexported(nexus.Delivery{})); diff != "" {
		t.Error(diff)
	}
}

func TestMiddlewareWrapsHandlersFromTheOutside(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var steps []string
	layer := func(name string) queue.Middleware {
		return queue.Middleware{Handle: func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error {
			steps = append(steps, fmt.Sprintf("%s %d", name, len(batch)))
			err := next(context.WithValue(ctx, valueKey{}, name))
			steps = append(steps, fmt.Sprintf("%s %v", name, err))
			return nexus.Reject("changed by middleware")
		}}
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Middleware: []queue.Middleware{layer("outer"), {}, layer("inner")}})
	n.On("x", func(ctx context.Context, _ pgx.Tx, _ *nexus.Delivery) error {
		steps = append(steps, fmt.Sprint("handler in ", ctx.Value(valueKey{})))
		return nil
	})
	stop := start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select exists (select from core.dead_letters where reason = 'changed by middleware')`)
	stop()
	want := []string{"outer 1", "inner 1", "handler in inner", "inner <nil>", "outer reject: changed by middleware"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestNoPayloadInTheLog(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log bytes.Buffer
	n := node.New(db.Pool, node.Config{
		Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1},
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	n.OnLeased("fails", func(context.Context, *nexus.Delivery) error { return errors.New("visible reason") })
	n.OnLeased("panics", func(context.Context, *nexus.Delivery) error { panic("p") })
	n.OnLeased("rejects", func(context.Context, *nexus.Delivery) error { return nexus.Reject("r") })
	node.OnLeasedT(n, nexus.EventType[int]("misfits"), func(context.Context, *nexus.DeliveryOf[int]) error { return nil })
	stop := start(t, n)
	for _, eventType := range []string{"fails", "panics", "rejects", "misfits"} {
		emit(t, db, eventType, "s3cret")
	}
	db.Wait(`select count(*) = 4 from core.dead_letters`)
	stop()
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("the payload is in the log:\n%s", log.String())
	}
	if !strings.Contains(log.String(), "visible reason") {
		t.Errorf("the log does not say why:\n%s", log.String())
	}
}
