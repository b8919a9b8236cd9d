package node_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// The test binary runs itself again as a node process that can be killed.
const (
	envChildURL  = "NEXUS_TEST_CHILD_URL"
	envChildMode = "NEXUS_TEST_CHILD_MODE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(envChildURL); url != "" {
		if err := child(url, os.Getenv(envChildMode)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// These tests wait for leases, timeouts and pauses more than for a processor, as far as one server has connections. -parallel says otherwise.
	procs := runtime.GOMAXPROCS(0)
	if err := flag.Set("test.parallel", strconv.Itoa(max(procs, min(3*procs, 8)))); err != nil {
		panic(err)
	}
	dbtest.Main(m)
}

// child is a node whose handlers write one row an event, and which dies of events of type "killer".
func child(url, mode string) error {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	cfg.MaxConns = 5
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	if id, ok := strings.CutPrefix(mode, "fan-out "); ok {
		return fanOut(ctx, pool, id)
	}
	if strings.HasPrefix(mode, "request ") {
		return requestChild(ctx, pool, mode)
	}
	n := node.New(pool, node.Config{Namespace: ns, Lease: time.Second, Retry: nexus.RetryPolicy{MaxAttempts: 50}})
	switch mode {
	case "transactional":
		n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	case "express", "On express":
		one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if d.Type == "express.killer" {
				os.Exit(137)
			}
			return effect(ctx, tx, d, "")
		}
		if mode == "express" {
			n.OnBatch("*", eachOf(one)).Retry.MaxAttempts = 3
		} else {
			h := n.On("*", one)
			h.Express, h.Retry.MaxAttempts = true, 3
		}
		return n.Run(ctx)
	case "limited leased", "limited On express", "limited OnBatch":
		return limited(ctx, pool, mode)
	case "looks back":
		one := func(to string) func(context.Context, pgx.Tx, *nexus.Delivery) error {
			return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, to) }
		}
		n.Triggers().On("mail", one("mail")).Express = true
		n.Subscribe("mailer", "a.*").On("a.*", one("mailer")).Express = true
		go func() { // more often than a tick comes
			for range time.Tick(100 * time.Millisecond) {
				_, _ = pool.Exec(ctx, `select core.tick()`)
			}
		}()
		return n.Run(ctx)
	case "given":
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		n = node.New(pool, node.Config{Namespace: ns, ID: "fixed", Grace: -1})
		return n.Run(ctx)
	case "On company", "OnLeased company":
		// What is in its first read waits for the killer beside it, and dies with it.
		dies := make(chan struct{})
		one := func(d *nexus.Delivery) {
			switch {
			case d.Type == "killer":
				close(dies)
				os.Exit(137)
			case d.Deferrals == 0:
				select {
				case <-dies:
					select {}
				case <-time.After(10 * time.Second):
				}
			}
		}
		if mode == "On company" {
			n.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				one(d)
				return effect(ctx, tx, d, "")
			}).Retry.MaxAttempts = 3
		} else {
			n.OnLeased("*", func(ctx context.Context, d *nexus.Delivery) error {
				one(d)
				_, err := pool.Exec(ctx, `insert into public.effect values ($1, $2)`, d.UID, d.Attempt)
				return err
			}).Retry.MaxAttempts = 3
		}
		return n.Run(ctx)
	case "frozen":
		n = node.New(pool, node.Config{Namespace: ns, Express: time.Second})
		n.OnBatch("x", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
			if err := effect(ctx, tx, batch[0], "frozen"); err != nil {
				return err
			}
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				return err
			}
			// The signal may stop another thread first, and this one would go on to commit.
			select {}
		})
		return n.Run(ctx)
	case "broadcast":
		n = node.New(pool, node.Config{Namespace: ns, ID: "fixed"})
		n.Broadcasts().On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if d.Type == "killer" {
				os.Exit(137)
			}
			return note(ctx, tx, "fixed", d)
		}).Retry.MaxAttempts = 3
		return n.Run(ctx)
	case "leased":
		n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
			_, err := pool.Exec(ctx, `insert into public.effect values ($1, $2)`, d.UID, d.Attempt)
			return err
		})
	}
	h := n.OnLeased("killer", func(context.Context, *nexus.Delivery) error {
		os.Exit(137)
		return nil
	})
	h.Retry.MaxAttempts = 3
	return n.Run(ctx)
}

func spawn(t *testing.T, db *dbtest.DB, mode string) *exec.Cmd {
	t.Helper()
	return spawnAt(t, db.URL, mode)
}

func spawnAt(t *testing.T, url, mode string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChildURL+"="+url, envChildMode+"="+mode)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

func kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func emitMany(t *testing.T, db *dbtest.DB, n int) {
	t.Helper()
	for left := n; left > 0; left -= 1000 {
		batch := make([]queue.Emission, min(left, 1000))
		for i := range batch {
			batch[i] = queue.Emission{Type: "x", Payload: i}
		}
		if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
			t.Fatal(err)
		}
	}
}

// Two node processes, one of which is killed with -9 again and again and started anew.
// holds: H1 (transactional), H2 (leased), H3-deaths (express)
func TestKilledNodesLoseAndDoubleNothing(t *testing.T) {
	events := 6_000
	switch {
	case os.Getenv("NEXUS_TEST_LONG") != "":
		events = 20_000
	case testing.Short():
		events = 2_000
	}
	for _, mode := range []string{"transactional", "leased", "express", "On express"} {
		t.Run(mode, func(t *testing.T) {
			db := newDB(t)
			emitMany(t, db, events)
			spawn(t, db, mode)
			victim := spawn(t, db, mode)
			for i := 1; i <= 4; i++ {
				db.Wait(`select count(*) >= ` + strconv.Itoa(events*i/5) + ` from public.effect`)
				kill(victim)
				victim = spawn(t, db, mode)
			}
			// What a killed process had leased comes back when its leases end, and runs by itself.
			for left := events / 5; left >= 0; left -= events / 20 {
				db.Wait(`select count(*) <= $1 from pgmq.q_core_events_shop`, left)
			}
			if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.effect`); n != events {
				t.Errorf("%d events had an effect, want %d", n, events)
			}
			twice := dbtest.Get[int](db, `select count(*)::int - count(distinct event_uid)::int from public.effect`)
			if mode != "leased" && twice != 0 {
				t.Errorf("%d effects too many", twice)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// untilBuried starts one process after the other, until one of them buries the message that killed those before.
func untilBuried(t *testing.T, db *dbtest.DB, mode string) {
	t.Helper()
	buried := func() bool {
		// Company that the end of this process met alone in hand would have another attempt.
		return dbtest.Get[bool](db, `select exists (select from core.dead_letters)`) && (!strings.HasSuffix(mode, "company") || dbtest.Get[bool](db, queueEmpty))
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deaths := 1; !buried(); deaths++ {
		if deaths > 6 {
			t.Fatal("the message was not buried")
		}
		cmd := spawn(t, db, mode)
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		late := time.After(time.Minute)
		stuck := false
		for alive := true; alive && !stuck; {
			select {
			case <-ended:
				alive = false
			case <-late:
				stuck = true
			case <-tick.C:
				alive = !buried()
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		if stuck {
			t.Fatal("for a minute the process has neither died of the message nor buried it")
		}
	}
}

// holds: D6, others-killers
func TestMessageThatKillsItsProcessIsBuried(t *testing.T) {
	db := newDB(t)
	if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "killer", nil, nil); err != nil {
		t.Fatal(err)
	}
	emitMany(t, db, 200)
	untilBuried(t, db, "transactional")
	if got := dbtest.Get[string](db, `select format('%s %s', reason, attempts) from core.dead_letters`); got != "not acknowledged (process lost) 3" {
		t.Errorf("dead letter: %s", got)
	}
	spawn(t, db, "transactional")
	db.Wait(`select count(*) = 200 from public.effect`)
}

// In express no attempt is counted when a process dies. The next one finds the mark, uses leases, and the killer goes alone: it is
// buried after its attempts, and those that shared its first batch keep theirs.
// holds: H3-deaths, others-killers
func TestMessageThatKillsItsProcessInExpress(t *testing.T) {
	for _, mode := range []string{"express", "On express"} {
		t.Run(mode, func(t *testing.T) {
			db := newDB(t)
			emitMany(t, db, 20)
			emit(t, db, "express.killer", nil)
			emitMany(t, db, 20)
			untilBuried(t, db, mode)
			spawn(t, db, mode)
			db.Wait(queueEmpty)
			checkEffects(t, db, 40)
			if got := dbtest.Get[string](db, `select string_agg(format('%s %s %s', event_type, reason, attempts), ', ') from core.dead_letters`); got != "express.killer not acknowledged (process lost) 3" {
				t.Errorf("dead letters: %s", got)
			}
		})
	}
}

// Under leases what is claimed together dies together. The killer alone is buried, after its attempts, and its neighbours are handled once, at
// their first attempt.
// holds: D6, others-killers
func TestMessageThatKillsItsProcessSparesItsNeighbours(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"On company", "OnLeased company"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			batch := make([]queue.Emission, 7)
			for i := range batch {
				batch[i] = queue.Emission{Type: "x"}
			}
			batch[3].Type = "killer"
			if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
				t.Fatal(err)
			}
			untilBuried(t, db, mode)
			spawn(t, db, mode)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(format('%s %s %s', event_type, reason, attempts), ', ') from core.dead_letters`); got != "killer not acknowledged (process lost) 3" {
				t.Errorf("dead letters: %s", got)
			}
			if got := dbtest.Get[string](db, `select format('%s of %s at %s', count(*), count(distinct event_uid), string_agg(distinct attempt::text, ',')) from public.effect`); got != "6 of 6 at 1" {
				t.Errorf("effects: %s", got)
			}
		})
	}
}

// A process that freezes holds its batch no longer than the express limit, since the server ends its session.
// holds: H3-deaths
func TestFrozenProcessFreesItsBatch(t *testing.T) {
	db := newDB(t)
	emitMany(t, db, 5)
	spawn(t, db, "frozen")
	// It holds the rows.
	db.Wait(`select exists (select from core_private.express_batches)`)
	began := time.Now()
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnBatch("x", eachOf(func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") }))
	start(t, n)
	db.Wait(queueEmpty)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the batch was free after %s", took)
	}
	checkEffects(t, db, 5)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect where attempt > 1`); n != 0 {
		t.Errorf("%d had an attempt counted", n)
	}
	if !dbtest.Get[bool](db, `select exists (select from core_private.express_batches where died_at is not null)`) {
		t.Error("nobody noticed that the node had gone")
	}
}
