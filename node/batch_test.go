package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// What handlers may count on whose events share a transaction: the column "batch OnBatch, express" of the contract, each case in
// each of the three modes that have it.

// sharing registers one function that is called for each event, in each mode whose events share a transaction.
var sharing = map[string]func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler{
	"OnBatch": func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		return n.OnBatch(pattern, eachOf(fn))
	},
	"OnBatch leased": func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		h := n.OnBatch(pattern, eachOf(fn))
		h.Leased = true
		return h
	},
	"On express": func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		h := n.On(pattern, fn)
		h.Express = true
		return h
	},
}

// eachOf makes a batch handler that names nobody when it fails.
func eachOf(fn func(context.Context, pgx.Tx, *nexus.Delivery) error) func(context.Context, pgx.Tx, []*nexus.Delivery) error {
	return func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		for _, d := range batch {
			if err := fn(ctx, tx, d); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkEffects wants one effect of each event.
func checkEffects(t *testing.T, db *dbtest.DB, events int) {
	t.Helper()
	if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.effect`); n != events {
		t.Errorf("%d events had an effect, want %d", n, events)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != events {
		t.Errorf("%d effects, want %d", n, events)
	}
}

// holds: H3
func TestSharedTransaction(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns})
			var xids sync.Map
			on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Attempt != 1 || d.MaxAttempts != 10 || d.Deferrals != 0 || d.Consumer != "default" {
					t.Errorf("delivery %+v", d)
				}
				if from, ok := nexus.DeliveryFrom(ctx); ok != (mode == "On express") || ok && from != d {
					t.Errorf("the context carries a delivery: %v", ok)
				}
				var xid string
				if err := tx.QueryRow(ctx, `select pg_current_xact_id()::text`).Scan(&xid); err != nil {
					return err
				}
				xids.Store(xid, true)
				return effect(ctx, tx, d, "")
			})
			emitMany(t, db, 1000)
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 1000)
			transactions := 0
			for range xids.Range {
				transactions++
			}
			if transactions > 40 {
				t.Errorf("%d transactions for 1,000 events, want about 10", transactions)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core_private.express_batches`); n != 0 {
				t.Errorf("%d marks are left", n)
			}
			if err := n.Health(); err != nil {
				t.Error(err)
			}
		})
	}
}

// One bad event among good ones: what is recorded of it, and that it costs the others nothing.
// holds: H3, others-panics (batches)
func TestOneBadEventOfABatch(t *testing.T) {
	t.Parallel()
	type verdict struct{ reason, action string }
	cases := map[string]struct {
		fn   func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error
		want verdict
	}{
		"error":  {func(context.Context, pgx.Tx, *nexus.Delivery) error { return errors.New("boom") }, verdict{"error", "retry"}},
		"panic":  {func(context.Context, pgx.Tx, *nexus.Delivery) error { panic("boom") }, verdict{"panic", "retry"}},
		"goexit": {func(context.Context, pgx.Tx, *nexus.Delivery) error { runtime.Goexit(); return nil }, verdict{"panic", "retry"}},
		"typed nil": {func(context.Context, pgx.Tx, *nexus.Delivery) error {
			var e *nilError
			return e
		}, verdict{"error", "retry"}},
		"panics when unwrapped": {func(context.Context, pgx.Tx, *nexus.Delivery) error { return unwrapPanics{} }, verdict{"error", "retry"}},
		"swallowed": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, _ = tx.Exec(ctx, "select 1/0")
			return nil
		}, verdict{"error", "retry"}},
		"SQL error": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, err := tx.Exec(ctx, "select 1/0")
			return err
		}, verdict{"error", "retry"}},
		"commits itself":        {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error { return tx.Commit(ctx) }, verdict{"error", "retry"}},
		"rolls back itself":     {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error { return tx.Rollback(ctx) }, verdict{"error", "retry"}},
		"commits, says nothing": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error { _ = tx.Commit(ctx); return nil }, verdict{"error", "retry"}},
		"rejects":               {func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Reject("bad sku") }, verdict{"bad sku", "bury"}},
		"names itself":          {func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { return nexus.At(d, errors.New("boom")) }, verdict{"error", "retry"}},
		"names itself, rejects": {func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
			return nexus.At(d, nexus.Reject("bad sku"))
		}, verdict{"bad sku", "bury"}},
		"names a stranger": {func(context.Context, pgx.Tx, *nexus.Delivery) error {
			return nexus.At(&nexus.Delivery{}, errors.New("boom"))
		}, verdict{"error", "retry"}},
		"nul in text": {func(context.Context, pgx.Tx, *nexus.Delivery) error { return errors.New("a\x00b\xff") }, verdict{"error", "retry"}},
		"timeout": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, err := tx.Exec(ctx, "select pg_sleep(3600)")
			return err
		}, verdict{"timeout", "retry"}},
		"timeout, says nothing": {func(ctx context.Context, _ pgx.Tx, _ *nexus.Delivery) error {
			<-ctx.Done()
			return nil
		}, verdict{"timeout", "retry"}},
		"at commit": {func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
			_, err := tx.Exec(ctx, `insert into public.child values (7)`)
			return err
		}, verdict{"commit", "retry"}},
	}
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			db.Exec(`create table public.parent (id int primary key)`)
			db.Exec(`create table public.child (parent int references public.parent deferrable initially deferred)`)
			db.Exec(`grant insert on public.child to ` + dbtest.Login)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			h := on(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, d.Type); err != nil {
					return err
				}
				var name string
				if d.Type == "x" || d.Attempt > 1 {
					return nil
				}
				if err := d.Decode(&name); err != nil {
					return err
				}
				return cases[name].fn(ctx, tx, d)
			})
			h.Timeout = time.Second
			start(t, n)
			for name, c := range cases {
				t.Run(name, func(t *testing.T) {
					db.Exec(`truncate public.effect, core.delivery_errors`)
					batch := make([]queue.Emission, 16) // in one call, so that they come as one batch
					for i := range batch {
						batch[i] = queue.Emission{Type: "x", Payload: i}
					}
					batch[8] = queue.Emission{Type: "bad", Payload: name}
					receipts, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch)
					if err != nil {
						t.Fatal(err)
					}
					bad := receipts[8]
					db.Wait(queueEmpty)
					got := verdict{
						dbtest.Get[string](db, `select string_agg(reason, ',') from core.delivery_errors where event_uid = $1`, bad.EventUID.String()),
						dbtest.Get[string](db, `select string_agg(action, ',') from core.delivery_errors where event_uid = $1`, bad.EventUID.String()),
					}
					if got != c.want {
						t.Errorf("recorded %v, want %v", got, c.want)
					}
					if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 1 {
						t.Errorf("%d failures are recorded, want the one", n)
					}
					if got := dbtest.Get[string](db, `select format('%s %s', count(*), count(distinct event_uid)) from public.effect where note = 'x'`); got != "15 15" {
						t.Errorf("effects of the good ones %s, want one of each of the 15", got)
					}
					want := "2"
					if c.want.action == "bury" {
						want = ""
					}
					if got := dbtest.Get[string](db, `select coalesce(string_agg(attempt::text, ','), '') from public.effect where note = 'bad'`); got != want {
						t.Errorf("effects of the bad one at attempts %q, want %q", got, want)
					}
				})
			}
		})
	}
}

type unwrapPanics struct{}

func (unwrapPanics) Error() string { return "x" }
func (unwrapPanics) Unwrap() error { panic("in Unwrap") }

// A handler that ends the transaction by a statement may have committed effects without the acknowledgement: nothing that had
// begun is tried again.
// holds: H3-deaths
func TestBatchWhoseTransactionIsEnded(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"commit", "commit; begin", "rollback; begin"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			for mode, on := range sharing {
				t.Run(mode, func(t *testing.T) {
					t.Parallel()
					db := newDB(t)
					n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
					on(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
						if err := effect(ctx, tx, d, ""); err != nil || d.Type == "x" {
							return err
						}
						_, err := tx.Exec(ctx, end)
						return err
					})
					emitMany(t, db, 3)
					emit(t, db, "bad", nil)
					emitMany(t, db, 3)
					start(t, n)
					db.Wait(queueEmpty)
					twice := dbtest.Get[int](db, `select count(*)::int - count(distinct event_uid)::int from public.effect`)
					if twice != 0 {
						t.Errorf("%d events had their effect twice", twice)
					}
					if !dbtest.Get[bool](db, `select count(*) > 0 and bool_and(reason = 'transaction ended') from core.dead_letters`) {
						t.Error("no dead letter says that the transaction was ended")
					}
					if n := dbtest.Get[int](db, `select count(*)::int from core.event_log l where not exists (select from public.effect e where e.event_uid = l.event_uid)
					and not exists (select from core.dead_letters d where d.event_uid = l.event_uid)`); n != 0 {
						t.Errorf("%d events are lost", n)
					}
				})
			}
		})
	}
}

// In express nobody but the node can commit, so all but the event whose handler tried is as if it had never begun.
// holds: H3-ended
func TestEndingTheTransactionSparesTheOthers(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"commit", "rollback", "set constraints all immediate; commit"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			n.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, d.Type); err != nil || d.Type != "bad" {
					return err
				}
				_, err := tx.Exec(ctx, end)
				if pg, ok := errors.AsType[*pgconn.PgError](err); end != "rollback" && (!ok || pg.Code != nexus.CodeNotYoursToCommit) {
					t.Errorf("the commit ended with %v, want it refused", err)
				}
				return nil
			}).Express = true
			batch := make([]queue.Emission, 21) // in one call, so that they come as one batch
			for i := range batch {
				batch[i] = queue.Emission{Type: "before", Payload: i}
				if i > 10 {
					batch[i].Type = "after"
				}
			}
			batch[10].Type = "bad"
			if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
				t.Fatal(err)
			}
			start(t, n)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(format('%s %s', event_type, reason), ',') from core.dead_letters`); got != "bad transaction ended" {
				t.Errorf("buried %q, want the bad one alone", got)
			}
			if got := dbtest.Get[string](db, `select string_agg(distinct note || ' ' || attempt, ',') || ' ' || count(*) || ' ' || count(distinct event_uid) from public.effect`); got != "after 1,before 1 20 20" {
				t.Errorf("effects %s, want one of each of the 20 others at the first attempt", got)
			}
		})
	}
}

// Errors that name deliveries cost no halving: the handler sees the others again, once.
// holds: H3
func TestNamedOnesAreTakenOut(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	var sizes []int
	n.OnBatch("*", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		sizes = append(sizes, len(batch))
		var errs []error
		for i, d := range batch {
			switch d.Type {
			case "bad":
				errs = append(errs, fmt.Errorf("number %d: %w", i, nexus.At(d, nexus.Reject("bad"))))
			case "later":
				errs = append(errs, nexus.At(d, nexus.Release(time.Hour)))
			}
			if err := effect(ctx, tx, d, ""); err != nil {
				return err
			}
		}
		return errors.Join(errs...)
	})
	emitMany(t, db, 10)
	for range 3 {
		emit(t, db, "bad", nil)
	}
	emit(t, db, "later", nil)
	if _, err := n.Work(t.Context(), 14); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sizes, []int{14, 10}) {
		t.Errorf("calls with %v events, want 14, then the 10 that are not named", sizes)
	}
	checkEffects(t, db, 10)
	if got := dbtest.Get[string](db, `select string_agg(reason || attempts, ',') from core.dead_letters`); got != "bad1,bad1,bad1" {
		t.Errorf("dead letters %s", got)
	}
	if got := dbtest.Get[string](db, `select format('%s %s', read_ct, headers ->> 'nexus-deferrals') from pgmq.q_core_events_shop`); got != "1 1" {
		t.Errorf("the released one has read_ct and deferrals %s, want 1 1", got)
	}
}

// Verdicts that put an event off.
// holds: H3
func TestPuttingOffOneOfABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{Max: time.Second}})
			on(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, fmt.Sprint(d.Type, d.Deferrals)); err != nil {
					return err
				}
				switch {
				case d.Type == "retry" && d.Attempt == 1:
					return fmt.Errorf("later: %w", nexus.Retry(2*time.Hour))
				case d.Type == "release" && d.Deferrals == 0:
					return nexus.Release(time.Hour)
				}
				return nil
			})
			start(t, n)
			emit(t, db, "retry", nil)
			emit(t, db, "release", nil)
			emitMany(t, db, 3)
			db.Wait(`select count(*) = 2 from ` + undelivered + ` where headers ? 'nexus-due' and vt = (headers ->> 'nexus-due')::timestamptz
			and vt between core.now() + interval '59 min' * case message ->> 'eventType' when 'retry' then 2 else 1 end and core.now() + interval '2 h'`)
			db.Wait(`select count(*) = 2 from ` + undelivered)
			db.Advance(2 * time.Hour)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(note || ' ' || attempt, ',' order by note) from public.effect where note not like 'x%'`); got != "release1 1,retry0 2" {
				t.Errorf("effects %s, want those of release at attempt 1 and of retry at attempt 2", got)
			}
			checkEffects(t, db, 5)
		})
	}
}

// holds: H3
func TestAttemptsOfABatchAreUsedUp(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			var attempts []int
			h := on(n, "bad", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
				attempts = append(attempts, d.Attempt)
				if d.MaxAttempts != 3 {
					t.Errorf("MaxAttempts %d", d.MaxAttempts)
				}
				return errors.New("boom")
			})
			h.Retry.MaxAttempts = 3
			emit(t, db, "bad", nil)
			stop := start(t, n)
			db.Wait(queueEmpty)
			stop()
			if !slices.Equal(attempts, []int{1, 2, 3}) {
				t.Errorf("attempts %v", attempts)
			}
			if got := dbtest.Get[string](db, `select format('%s %s %s', reason, attempts, last_attempt_at >= first_attempt_at) from core.dead_letters`); got != "error 3 t" {
				t.Errorf("dead letter %s", got)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 3 {
				t.Errorf("%d failures recorded", n)
			}
		})
	}
}

// holds: H3
func TestManyBadOnesOfABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
			var subs atomic.Int32
			on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				var n int32
				// Not rolled back with the savepoint, unlike what could be counted in a table.
				if err := tx.QueryRow(ctx, `select count(*)::int from pg_locks where locktype = 'transactionid' and pid = pg_backend_pid()`).Scan(&n); err != nil {
					return err
				}
				subs.Store(max(subs.Load(), n))
				if string(d.Payload)[len(d.Payload)-1] == '3' {
					return errors.New("boom")
				}
				return nil
			})
			emitMany(t, db, 1000)
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 900)
			if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where attempts = 1`); n != 100 {
				t.Errorf("%d dead letters, want 100", n)
			}
			if subs.Load() > 64 {
				t.Errorf("%d subtransactions in one transaction", subs.Load())
			}
		})
	}
}

func TestUndecodableOnesOfABatch(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	node.OnBatchT(n, nexus.EventType[int]("x"), func(ctx context.Context, tx pgx.Tx, batch []*nexus.DeliveryOf[int]) error {
		for _, d := range batch {
			if err := effect(ctx, tx, d.Delivery, fmt.Sprint(d.Payload)); err != nil {
				return err
			}
		}
		return nil
	})
	emitMany(t, db, 5)
	emit(t, db, "x", "text")
	emitMany(t, db, 5)
	if handled, err := n.Work(t.Context(), 100); handled != 11 || err != nil {
		t.Fatal(handled, err)
	}
	checkEffects(t, db, 10)
	if got := dbtest.Get[string](db, `select string_agg(reason, ',') from core.dead_letters`); got != "decode" {
		t.Errorf("dead letters: %s", got)
	}
}

func TestNestedTransactionInABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
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
				return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return effect(ctx, tx, d, "outer") })
			})
			emitMany(t, db, 5)
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 5)
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d failures", n)
			}
		})
	}
}

// Several handlers of a type run in order on one batch; events whose handlers differ are apart.
// holds: H3
func TestHandlersOfABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
			on(n, "a.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				return effect(ctx, tx, d, d.Type+" first")
			})
			on(n, "a.b", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, d.Type+" second"); err != nil {
					return err
				}
				return boomIf(string(d.Payload) == `"bad"`)
			})
			emit(t, db, "a.b", 1)
			emit(t, db, "a.c", 2)
			emit(t, db, "a.b", "bad")
			emit(t, db, "a.b", 3)
			start(t, n)
			db.Wait(queueEmpty)
			got := dbtest.Get[string](db, `select string_agg(note, ', ' order by note) from public.effect`)
			if want := "a.b first, a.b first, a.b second, a.b second, a.c first"; got != want {
				t.Errorf("effects %s, want %s", got, want)
			}
		})
	}
}

func boomIf(bad bool) error {
	if bad {
		return errors.New("boom")
	}
	return nil
}

func TestMiddlewareRunsWithTheBatch(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var sizes []int
	var values []any
	type key struct{}
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}, Middleware: []queue.Middleware{{
		Handle: func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error {
			sizes = append(sizes, len(batch))
			return next(context.WithValue(ctx, key{}, "v"))
		},
	}}})
	n.OnBatch("x", func(ctx context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		values = append(values, ctx.Value(key{}))
		return nil
	})
	h := n.On("y", func(ctx context.Context, _ pgx.Tx, _ *nexus.Delivery) error {
		values = append(values, ctx.Value(key{}))
		return nil
	})
	h.Express = true
	emitMany(t, db, 5)
	emit(t, db, "y", nil)
	if _, err := n.Work(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sizes, []int{5, 1}) || !slices.Equal(values, []any{"v", "v"}) {
		t.Errorf("middleware saw batches of %v, handlers its values %v", sizes, values)
	}
}

// holds: H3
func TestBatchAndLinger(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns})
			xids := map[string]int{}
			var mu sync.Mutex
			h := on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				var xid string
				if err := tx.QueryRow(ctx, `select pg_current_xact_id()::text`).Scan(&xid); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				xids[xid]++
				return effect(ctx, tx, d, "")
			})
			h.Batch = 10
			h.Linger = 30 * time.Second
			start(t, n)
			for range 9 {
				emit(t, db, "x", nil)
			}
			// Nine wait, and nothing is locked or counted meanwhile: they can be seen and locked.
			db.Wait(`select count(*) = 9 from (select from pgmq.q_core_events_shop where read_ct = 0 for update skip locked) s`)
			began := time.Now()
			emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("a full batch waited for %s", took)
			}
			mu.Lock()
			if len(xids) != 1 {
				t.Errorf("batches of %v, want one of 10", xids)
			}
			mu.Unlock()
			emitMany(t, db, 35)
			db.Wait(`select count(*) <= 5 from pgmq.q_core_events_shop`)
			mu.Lock()
			defer mu.Unlock()
			for _, n := range xids {
				if n != 10 {
					t.Errorf("a batch of %d", n)
				}
			}
		})
	}
}

func TestLingerEnds(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns})
			h := on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
			h.Linger = 200 * time.Millisecond
			start(t, n)
			emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			checkEffects(t, db, 1)
		})
	}
}

// Handlers that meet on a type must be of one mode, and Run names both.
// holds: H3
func TestModesThatMeet(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	tx := func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil }
	batch := func(context.Context, pgx.Tx, []*nexus.Delivery) error { return nil }
	leased := func(context.Context, *nexus.Delivery) error { return nil }
	modes := map[string]func(n *node.Node, pattern string) *node.Handler{
		"On":                  func(n *node.Node, p string) *node.Handler { return n.On(p, tx) },
		"On with Express":     func(n *node.Node, p string) *node.Handler { h := n.On(p, tx); h.Express = true; return h },
		"OnBatch":             func(n *node.Node, p string) *node.Handler { return n.OnBatch(p, batch) },
		"OnBatch with Leased": func(n *node.Node, p string) *node.Handler { h := n.OnBatch(p, batch); h.Leased = true; return h },
		"OnLeased":            func(n *node.Node, p string) *node.Handler { return n.OnLeased(p, leased) },
	}
	for a, onA := range modes {
		for b, onB := range modes {
			n := node.New(db.Pool, node.Config{Namespace: ns})
			onA(n, "order.*").Name = "first"
			onB(n, "order.placed").Name = "second"
			_, err := n.Work(t.Context(), 0)
			if a == b {
				if err != nil {
					t.Errorf("%s twice: %v", a, err)
				}
				continue
			}
			if !errors.Is(err, nexus.ErrInvalid) || !strings.Contains(err.Error(), `"first" (`+a+`)`) || !strings.Contains(err.Error(), `"second" (`+b+`)`) {
				t.Errorf("%s and %s: %v, want that both are named", a, b, err)
			}
		}
	}
}

// All modes side by side on one queue.
func TestModesOfOneConsumer(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	types := []string{"a", "b", "c", "d"}
	n.On("a", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	i := 1
	for _, on := range sharing {
		on(n, types[i], func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
		i++
	}
	start(t, n)
	var batch []queue.Emission
	for i := range 1000 {
		batch = append(batch, queue.Emission{Type: types[i%4], Payload: i})
	}
	if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
		t.Fatal(err)
	}
	db.Wait(queueEmpty)
	checkEffects(t, db, 1000)
}

// Handlers that ignore the end of their context keep their places, and no more: with places left the group goes on.
// holds: H3-stuck
func TestStuckHandlersOfABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 8, Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: time.Millisecond, Jitter: -1}})
			release := make(chan struct{})
			on(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Type == "stuck" {
					<-release
				}
				return effect(ctx, tx, d, "")
			}).Timeout = time.Second
			start(t, n)
			defer close(release)
			emit(t, db, "stuck", nil)
			db.Wait(`select count(*) = 1 from core.dead_letters where reason = 'timeout'`)
			emitMany(t, db, 3)
			db.Wait(`select count(*) = 3 from public.effect`)
		})
	}
}

// What was given up may come back, but begins nothing any more: its events are somebody else's.
// holds: H3-stuck
func TestHandlersThatWereGivenUpBeginNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"OnBatch", "On express"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			var log buffer
			n := node.New(db.Pool, node.Config{Namespace: ns, Express: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			release, returned := make(chan struct{}), make(chan struct{})
			var calls, others atomic.Int32
			stays := func() bool {
				if calls.Add(1) > 1 {
					return false
				}
				defer close(returned)
				<-release
				return true
			}
			if mode == "OnBatch" {
				n.OnBatch("x", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
					if stays() {
						return nil
					}
					return eachOf(func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })(ctx, tx, batch)
				})
				n.OnBatch("x", func(context.Context, pgx.Tx, []*nexus.Delivery) error { others.Add(1); return nil })
			} else {
				n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
					if stays() {
						return nil
					}
					return effect(ctx, tx, d, "")
				}).Express = true
			}
			emitMany(t, db, 3)
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 3)
			// The server may have ended the transaction long before, and another batch have handled the events.
			eventually(t, "it is given up", time.Minute, func() bool { return strings.Contains(log.String(), "one of their places is stuck") })
			before, beforeOthers := calls.Load(), others.Load()
			close(release)
			<-returned
			emit(t, db, "x", nil)
			db.Wait(`select count(*) = 4 from public.effect`)
			if n := calls.Load() - before; n != 1 && mode == "On express" {
				t.Errorf("%d calls after the one that was given up, want one, for the new event", n)
			}
			if n := others.Load() - beforeOthers; n != 1 && mode == "OnBatch" {
				t.Errorf("%d calls of the other handler, want one, for the new event", n)
			}
		})
	}
}

// A batch beyond the express limit is rolled back, costs no attempt, and runs under leases, where only Timeout bounds it.
// holds: H3-deaths
func TestExpressLimit(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"OnBatch", "On express"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Express: time.Second})
			var calls atomic.Int32
			sharing[mode](n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				calls.Add(1)
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "select pg_sleep(2)")
				return err
			})
			start(t, n)
			emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(attempt::text, ',') from public.effect`); got != "1" {
				t.Errorf("effects of attempts %s, want 1 alone", got)
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("%d calls, want one in express and one under a lease", n)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d failures recorded", n)
			}
		})
	}
}

// What runs when the node drains is undisturbed for Grace; then it is cancelled, and nothing is counted.
// holds: H3-deaths
func TestDrainingABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Grace: -1})
			began, cause := make(chan struct{}), make(chan error, 1)
			on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				close(began)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return ctx.Err()
			})
			stop := start(t, n)
			emit(t, db, "x", nil)
			<-began
			stop()
			if err := <-cause; !errors.Is(err, nexus.ErrDraining) {
				t.Errorf("cause %v", err)
			}
			if got := dbtest.Get[string](db, `select format('%s %s', count(*), max(core_private.attempt_of(read_ct, headers))) from pgmq.q_core_events_shop where vt <= core.now()`); got != "1 0" {
				t.Errorf("due and attempts %s, want that the event is due and no attempt counted", got)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core_private.express_batches`); n != 0 {
				t.Error("a mark is left")
			}
			checkEffects(t, db, 0)
		})
	}
}

// A lost connection costs no attempt.
// holds: H3-deaths
func TestConnectionLostInABatch(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns})
			var calls atomic.Int32
			on(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, ""); err != nil {
					return err
				}
				if calls.Add(1) == 1 {
					var pid int
					if err := tx.QueryRow(ctx, `select pg_backend_pid()`).Scan(&pid); err != nil {
						return err
					}
					db.Exec(`select pg_terminate_backend($1)`, pid)
					_, err := tx.Exec(ctx, `select 1`)
					return err
				}
				return nil
			})
			start(t, n)
			emit(t, db, "x", nil)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(attempt::text, ',') from public.effect`); got != "1" {
				t.Errorf("effects of attempts %s, want 1 alone", got)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d failures recorded", n)
			}
		})
	}
}
