package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/workflow"
)

// buffer is a log that goroutines write to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// again repeats f until it works: the server it speaks to is being restarted.
func again(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// The server is restarted under a running node, once between events and once in the middle of handlers: of an event, of a message of a
// lane, and of a workflow's step.
// holds: others-restart
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Cluster(t, pgdev.Options{}, dbtest.BuildTemplate)
	ours, nodes := dbtest.ClusterPool(t, cluster), dbtest.ClusterPool(t, cluster)
	for _, sql := range []string{
		`select core.create_namespace('shop')`, `create table public.effect (event_uid uuid not null, attempt int not null, note text)`,
		`select core.outbox_register_queue('shop', 'pay', 2, '{"retry": {"max_attempts": 1}}')`,
	} {
		if _, err := ours.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	restart := func() {
		t.Helper()
		if err := cluster.Restart(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	send := func(eventType string) {
		t.Helper()
		again(t, "emit", func() error {
			_, err := queue.Emitter{Namespace: ns}.Emit(t.Context(), ours, eventType, nil, nil)
			return err
		})
	}
	count := func(want int) {
		t.Helper()
		again(t, "effects", func() error {
			var got int
			if err := ours.QueryRow(t.Context(), `select count(*) from public.effect`).Scan(&got); err != nil {
				return err
			}
			if got > want {
				t.Fatalf("%d effects, want %d", got, want)
			}
			if got < want {
				return errors.New("too few")
			}
			return nil
		})
	}

	var log buffer
	n := node.New(nodes, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	arrived, goOn := make(chan struct{}), make(chan struct{})
	var lane, step atomic.Bool
	wait := func(first bool) {
		if first {
			arrived <- struct{}{}
			<-goOn
		}
	}
	note := func(ctx context.Context, tx pgx.Tx, attempt int, what string) error {
		_, err := tx.Exec(ctx, `insert into public.effect values (gen_random_uuid(), $1, $2)`, attempt, what)
		return err
	}
	n.On("held", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		wait(d.Deferrals == 0)
		return effect(ctx, tx, d, "")
	})
	n.Add(outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		wait(string(m.Body) == "held" && lane.CompareAndSwap(false, true))
		return note(ctx, tx, m.Attempt, string(m.Body)+" message")
	}))
	w := workflow.New[string, int]("w")
	w.Retry = nexus.RetryPolicy{MaxAttempts: 1}
	workflow.TxStep(w, "tx", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[string]) (int, error) {
		wait(r.Input == "held" && step.CompareAndSwap(false, true))
		return 1, note(ctx, tx, r.Attempt, r.Input+" step")
	})
	workflow.Sleep(w, "nap", time.Millisecond)
	workflow.Step(w, "step", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	n.Add(w)
	other := func(what string) {
		t.Helper()
		again(t, "enqueue", func() error {
			_, err := outbox.Enqueue(t.Context(), ours, ns, outbox.Message{Queue: "pay", Key: what, Type: "t", Body: []byte(what), DedupeKey: what})
			return err
		})
		again(t, "start", func() error {
			_, _, err := w.Start(t.Context(), ours, ns, what, &workflow.StartOptions{IdempotencyKey: what})
			return err
		})
	}
	start(t, n)
	send("x")
	other("one")
	count(3)
	restart()
	send("x")
	other("two")
	count(6)
	send("held")
	other("held")
	for range 3 {
		<-arrived
	}
	restart()
	close(goOn)
	count(9)
	again(t, "runs", func() error {
		var open int
		if err := ours.QueryRow(t.Context(), `select count(*) from core.workflow_runs where finished_at is null`).Scan(&open); err != nil {
			return err
		}
		if open > 0 {
			return errors.New("some are open")
		}
		return nil
	})
	var ends string
	again(t, "ends", func() error {
		return ours.QueryRow(t.Context(), `select (select string_agg(distinct status, ' ') from core.workflow_runs) || ' ' || (select count(*) from core.dead_letters) || ' ' || (select string_agg(distinct attempt::text, ' ') from public.effect)`).Scan(&ends)
	})
	if ends != "completed 0 1" {
		t.Errorf("ends of runs, dead letters, attempts: %s", ends)
	}

	var failures int
	again(t, "failures", func() error {
		return ours.QueryRow(t.Context(), `select count(*) from core.delivery_errors`).Scan(&failures)
	})
	if failures != 0 {
		t.Errorf("%d attempts were used up by restarts", failures)
	}
	if err := n.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if lines := strings.Count(log.String(), "\n"); lines > 40 {
		t.Errorf("%d lines of log for two restarts:\n%s", lines, log.String())
	}
}

// holds: others-restart
func TestRunWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var log buffer
	n := node.New(pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := n.Run(ctx); err != nil {
		t.Errorf("Run that was ended while it waited: %v", err)
	}
	if ctx.Err() == nil {
		t.Error("Run did not wait")
	}
	if !strings.Contains(log.String(), "waiting for it") || strings.Count(log.String(), "\n") > 3 {
		t.Errorf("want one line that says so:\n%s", log.String())
	}
}

// Who holds a lock on the nodes, or wins a race, keeps a node from registering for a while: it is no reason to end.
// holds: N5-register
func TestRunWaitsForALock(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table core.nodes in share mode`); err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{}, 100)
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(told{refused}, nil))})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	select {
	case <-refused:
	case err := <-done:
		t.Fatalf("Run ended: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select exists (select from core.nodes where state = 'active')`)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// told hears of each line of a log.
type told struct{ lines chan<- struct{} }

func (w told) Write(b []byte) (int, error) {
	select {
	case w.lines <- struct{}{}:
	default:
	}
	return len(b), nil
}

// A server that turned read-only, as a former primary does: connections that were made meanwhile stay read-only, so recovery
// takes new ones.
// holds: others-restart
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	name := dbtest.Get[string](db, `select current_database()::text`)
	db.Exec(`alter database ` + name + ` set default_transaction_read_only = on`)
	db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = current_database()`, dbtest.Login)
	if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Owner, "x", nil, nil); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select exists (select from pg_stat_activity where usename = $1 and datname = current_database() and query like '%core_node.%claim%')`, dbtest.Login)
	db.Exec(`alter database ` + name + ` reset default_transaction_read_only`)
	db.Wait(`select count(*) = 2 from public.effect`)
	if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
		t.Errorf("%d attempts used up", n)
	}
}

func TestConnectionLostInAHandlerUsesNoAttempt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	cut := func(tx pgx.Tx) { db.Exec(`select pg_terminate_backend($1)`, tx.Conn().PgConn().PID()) }
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if d.Deferrals == 0 {
			cut(tx)
		}
		return effect(ctx, tx, d, "")
	})
	// The server is gone when the ack is due, and the handler has not noticed.
	n.On("y", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		err := effect(ctx, tx, d, "")
		if d.Deferrals == 0 {
			cut(tx)
		}
		return err
	})
	start(t, n)
	emit(t, db, "x", nil)
	emit(t, db, "y", nil)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select string_agg(attempt::text, ',') from public.effect`); got != "1,1" {
		t.Errorf("effects of attempts %s, want 1,1", got)
	}
}

// holds: others-idle
func TestIdleInTransactionLimitIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	cfg := db.Pool.Config().Copy()
	cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "1000" // more than a busy machine lets an attempt wait
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var log buffer
	n := node.New(pool, node.Config{Namespace: ns, Retry: quick, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if d.Attempt > 1 {
			return effect(ctx, tx, d, "")
		}
		// Slow outside work, and no word that the transaction is gone.
		db.Wait(`select not exists (select from pg_stat_activity where pid = $1)`, tx.Conn().PgConn().PID())
		return nil
	})
	// Nor from a message of a lane, nor from a step.
	idles := func(ctx context.Context, tx pgx.Tx) error {
		db.Wait(`select not exists (select from pg_stat_activity where pid = $1)`, tx.Conn().PgConn().PID())
		return nil
	}
	db.Exec(`select core.outbox_register_queue('shop', 'pay', 1, '{"retry": {"max_attempts": 2, "base": "1 ms"}}')`)
	n.Add(outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error { return idles(ctx, tx) }))
	w := workflow.New[int, int]("w")
	w.Retry = nexus.RetryPolicy{MaxAttempts: 2, Base: time.Millisecond}
	workflow.TxStep(w, "a", func(ctx context.Context, tx pgx.Tx, _ *workflow.Run[int]) (int, error) { return 1, idles(ctx, tx) })
	n.Add(w)
	stop := start(t, n)
	emit(t, db, "x", nil)
	db.Wait(`select exists (select from core.workflow_definitions)`)
	run, _, err := w.Start(t.Context(), db.Pool, ns, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.outbox_enqueue('shop', 'pay', 'x', 't')`)
	db.Wait(queueEmpty)
	db.Wait(`select exists (select from core.dead_letters where consumer = 'pay') and (select finished_at is not null from core.workflow_runs where run_id = $1)`, run)
	stop()
	for what, sql := range map[string]string{
		"event": `select error from core.delivery_errors where event_type = 'x'`, "message": `select attempts || ' ' || last_error from core.dead_letters`,
		"step": `select j.attempts || ' ' || (r.error ->> 'error') from core_private.workflow_runs r join core_private.workflow_journal j using (run_id)`,
	} {
		if got := dbtest.Get[string](db, sql); !strings.Contains(got, "idle-in-transaction") || what != "event" && !strings.HasPrefix(got, "2 ") {
			t.Errorf("of the %s is recorded %q, want the reason", what, got)
		}
	}
	if !strings.Contains(log.String(), "idle_in_transaction_session_timeout is shorter") {
		t.Errorf("no warning at the start:\n%s", log.String())
	}
}

// quickHeart makes the node that will have this id send heartbeats so often that tests need not wait for them.
func quickHeart(db *dbtest.DB, id string) {
	db.Exec(`select core_node.register_node('shop', $1, true, '{x}')`, id)
	db.Exec(`update core.nodes set state = 'stopped', heartbeat_every = '50 ms' where node_id = $1`, id)
}

func TestNodeThatWasGivenUpRegistersAnew(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	quickHeart(db, "n1")
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n1"})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	start(t, n)
	db.Wait(`select state = 'active' from core.nodes where node_id = 'n1'`)
	first := dbtest.Get[string](db, `select incarnation::text from core.nodes where node_id = 'n1'`)
	db.Exec(`update core.nodes set state = 'lost' where node_id = 'n1'`)
	db.Wait(`select state = 'active' and incarnation <> $1::text::uuid from core.nodes where node_id = 'n1'`, first)
}

func TestNodeWhoseGivenIDWasTakenEnds(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	quickHeart(db, "n1")
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n1"})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	done := make(chan error, 1)
	go func() { done <- n.Run(context.Background()) }()
	db.Wait(`select state = 'active' from core.nodes where node_id = 'n1'`)
	// The sweep may just have given the slow one up, and whoever took the id lives.
	db.Exec(`update core.nodes set incarnation = gen_random_uuid(), heartbeat_every = '1 hour', state = 'active', last_heartbeat = core.now() where node_id = 'n1'`)
	if err := <-done; !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("Run: %v, want ErrConflict", err)
	}
}

// Answers of the server get lost again and again, and the node sends its results once more. An event that is only ever put off is never
// taken for one that kills its process, and each failed attempt is recorded once.
// holds: D2-repeated
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const events = 60
	for i := range events {
		emit(t, db, []string{"put.off", "fails"}[i%2], nil)
	}
	proxy := db.Proxy()
	cfg, err := pgxpool.ParseConfig(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 5
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var finish atomic.Bool
	// A claim whose answer is lost is an attempt, and there are eight.
	n := node.New(pool, node.Config{Namespace: ns, LeasedWorkers: 10, Lease: time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	n.OnLeased("put.off", func(context.Context, *nexus.Delivery) error {
		if finish.Load() {
			return nil
		}
		return nexus.Release(0)
	}).Retry.MaxAttempts = 12
	n.OnLeased("fails", func(context.Context, *nexus.Delivery) error {
		if finish.Load() {
			return nil
		}
		return nexus.Retry(0)
	}).Retry.MaxAttempts = -1
	start(t, n)
	const settled = `select coalesce(sum(coalesce((headers ->> 'nexus-deferrals')::int, 0) + coalesce((headers ->> 'nexus-failures')::int, 0)), 0)::int from pgmq.q_core_events_shop`
	for range 8 {
		proxy.Deafen(true)
		// What was sent is done, and nobody hears of it.
		db.Wait(`select not exists (select from pg_stat_activity where usename = $1 and datname = current_database() and state <> 'idle')`, dbtest.Login)
		proxy.Cut()
		proxy.Deafen(false)
		before := dbtest.Get[int](db, settled)
		db.Wait(`select (`+settled+`) > $1`, before+2*events)
	}
	db.Wait(`select coalesce(min(read_ct), 0) > 20 from pgmq.q_core_events_shop where message ->> 'eventType' = 'put.off'`)
	finish.Store(true)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select coalesce(string_agg(format('%s %s %s', event_type, reason, attempts), ', '), '') from core.dead_letters`); got != "" {
		t.Errorf("dead letters: %s", got)
	}
	if n := dbtest.Get[int](db, `select (count(*) - count(distinct (msg_id, attempt)))::int from core.delivery_errors`); n != 0 {
		t.Errorf("%d failed attempts were recorded twice", n)
	}
}
