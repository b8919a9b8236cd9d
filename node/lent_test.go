package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// What a node lends to its handlers: deliveries, which are copies, and its transaction, which is theirs until they return.

// transactional are the modes in which handlers run in a transaction of the node's.
func transactional() map[string]func(*node.Node, string, func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
	all := map[string]func(*node.Node, string, func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler{
		"On": func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
			return n.On(pattern, fn)
		},
	}
	for name, mode := range sharing {
		all[name] = mode
	}
	return all
}

// everyMode are all modes. The transaction of a leased handler is one of its own, which acks.
func everyMode(db *dbtest.DB) map[string]func(*node.Node, string, func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
	all := transactional()
	all["OnLeased"] = func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
		return n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error {
			return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error { return fn(ctx, tx, d) })
		})
	}
	return all
}

// vandalise does to a delivery what a handler may do.
func vandalise(d *nexus.Delivery) {
	d.MessageID++
	d.Attempt, d.Deferrals, d.MaxAttempts = 7, 3, 1
	copy(d.Payload, bytes.Repeat([]byte("x"), len(d.Payload)))
	for i := range d.Tags {
		d.Tags[i] = "vandal"
	}
	for k := range d.Headers {
		d.Headers[k] = "vandal"
	}
}

// holds: lent
func TestWhatAHandlerDoesToItsDeliveryStaysThere(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for name := range everyMode(db) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			mode := everyMode(db)[name]
			var log buffer
			var mu sync.Mutex
			var wrong []string
			check := func(who string, d *nexus.Delivery) {
				if d == nil || string(d.Payload) != `{"n": 1}` || strings.Join(d.Tags, ",") != "a,b" || d.Headers["k"] != "v" || d.MaxAttempts != 10 || d.MessageID > 20 {
					mu.Lock()
					defer mu.Unlock()
					wrong = append(wrong, fmt.Sprintf("%s got %+v", who, d))
				}
			}
			n := node.New(db.Pool, node.Config{
				Namespace: ns, Retry: quick, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Middleware: []queue.Middleware{{Handle: func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error {
					err := next(ctx)
					for _, d := range batch {
						check("middleware", d)
					}
					return err
				}}},
			})
			failed := map[string]bool{}
			mode(n, "x", func(ctx context.Context, _ pgx.Tx, d *nexus.Delivery) error {
				check("first handler", d)
				if in, ok := nexus.DeliveryFrom(ctx); ok {
					check("context", in)
					vandalise(in)
				}
				vandalise(d)
				mu.Lock()
				fail := !failed[d.UID.String()]
				failed[d.UID.String()] = true
				mu.Unlock()
				if fail {
					return nexus.At(d, errors.New("boom"))
				}
				*d = nexus.Delivery{}
				return nil
			})
			mode(n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				check("second handler", d)
				return effect(ctx, tx, d, "")
			})
			start(t, n)
			for range 20 {
				if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "x", map[string]int{"n": 1}, &queue.EmitOptions{
					Tags: []string{"a", "b"}, Headers: map[string]string{"k": "v"},
				}); err != nil {
					t.Fatal(err)
				}
			}
			db.Wait(queueEmpty)
			mu.Lock()
			defer mu.Unlock()
			if len(wrong) > 0 {
				t.Errorf("%d times, at first: %s", len(wrong), wrong[0])
			}
			checkEffects(t, db, 20)
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors where msg_id <= 20 and attempt = 1`); n != 20 {
				t.Errorf("%d failures are recorded as those of their messages, want 20", n)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
				t.Errorf("%d dead letters", n)
			}
			if strings.Contains(log.String(), "attempt=7") {
				t.Errorf("the log shows what handlers made of it:\n%s", log.String())
			}
		})
	}
}

// A transaction that a handler keeps is closed, and what it reaches through the connection commits nowhere.
// holds: lent
func TestATransactionThatIsKept(t *testing.T) {
	t.Parallel()
	for name, mode := range transactional() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			var tx, nested pgx.Tx
			var conn *pgx.Conn
			mode(n, "keeps", func(ctx context.Context, lent pgx.Tx, d *nexus.Delivery) error {
				sub, err := lent.Begin(ctx)
				if err != nil {
					return err
				}
				tx, nested, conn = lent, sub, lent.Conn()
				return effect(ctx, lent, d, "")
			})
			const sql = `insert into public.effect values (gen_random_uuid(), 0, 'kept')`
			use := func(ctx context.Context) {
				for what, err := range map[string]error{
					"Exec": call2(tx.Exec(ctx, sql)), "QueryRow": tx.QueryRow(ctx, sql).Scan(), "Query": call2(tx.Query(ctx, sql)),
					"Begin": call2(tx.Begin(ctx)), "Prepare": call2(tx.Prepare(ctx, "p", sql)), "Commit": tx.Commit(ctx), "Rollback": tx.Rollback(ctx),
					"SendBatch": tx.SendBatch(ctx, queued(sql)).Close(), "nested Exec": call2(nested.Exec(ctx, sql)), "nested Commit": nested.Commit(ctx),
					"CopyFrom": call2(tx.CopyFrom(ctx, pgx.Identifier{"public", "effect"}, []string{"note"}, pgx.CopyFromRows(nil))),
				} {
					if !errors.Is(err, pgx.ErrTxClosed) {
						t.Errorf("%s of a transaction that was kept: %v", what, err)
					}
				}
				if c := tx.Conn(); c != nil {
					t.Error("a transaction that was kept has a connection")
				}
			}
			mode(n, "uses", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				use(ctx)
				return effect(ctx, tx, d, "")
			})
			start(t, n)
			emit(t, db, "keeps", nil)
			db.Wait(queueEmpty)
			emit(t, db, "uses", nil)
			db.Wait(queueEmpty)
			if _, err := conn.Exec(t.Context(), sql); err == nil {
				t.Error("the connection that was kept still works")
			}
			if n := dbtest.Get[int](db, `select count(*)::int from public.effect where note = 'kept'`); n != 0 {
				t.Errorf("%d effects of what was kept", n)
			}
			checkEffects(t, db, 2)
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d attempts failed", n)
			}
		})
	}
}

func call2[T any](_ T, err error) error { return err }

func queued(sql string) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(sql)
	return b
}

// A statement that is still running when its handler returns has the connection, so that nothing can be committed: the attempt fails,
// and nobody else's does.
// holds: lent
func TestAStatementThatOutlivesItsHandler(t *testing.T) {
	t.Parallel()
	for name, mode := range transactional() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			ended := make(chan error, 10)
			var tries atomic.Int32
			mode(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if err := effect(ctx, tx, d, ""); err != nil || d.Type != "bad" || d.Attempt > 1 {
					return err
				}
				pid := tx.Conn().PgConn().PID()
				tries.Add(1)
				go func() { ended <- call2(tx.Exec(context.WithoutCancel(ctx), `select pg_sleep(60)`)) }()
				db.Wait(`select state = 'active' and query like '%pg_sleep%' from pg_stat_activity where pid = $1`, int64(pid))
				return nil
			})
			for range 10 {
				emit(t, db, "good", nil)
			}
			emit(t, db, "bad", nil)
			for range 10 {
				emit(t, db, "good", nil)
			}
			began := time.Now()
			start(t, n)
			db.Wait(queueEmpty)
			for range tries.Load() {
				if err := <-ended; err == nil {
					t.Error("the statement went on to its end")
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			checkEffects(t, db, 21)
			if got := dbtest.Get[string](db, `select coalesce(string_agg(distinct event_type, ','), '') from core.delivery_errors`); got != "bad" {
				t.Errorf("failures of %q, want those of bad alone", got)
			}
		})
	}
}
