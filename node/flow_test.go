package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

const wanted = `select waiting_until > core.now() from core_private.wake_flags where key = 'core_events_shop'`

// blindfold has lookouts see nothing, so that nothing but wake-ups and polls brings events.
func blindfold(db *dbtest.DB) {
	db.Exec(`create or replace function core_node.look(p_queue text, p_wait interval) returns interval
		language sql security definer set search_path = pg_catalog, pg_temp
		as $$ select null::interval from core_node.wait_for_wake(array[p_queue], p_wait) $$`)
}

// With an hour between polls, only a wake-up explains that an event is handled.
func TestWakeUp(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	blindfold(db)
	n := node.New(db.Pool, node.Config{Namespace: ns, Poll: time.Hour})
	handled := make(chan struct{}, 1)
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { handled <- struct{}{}; return nil })
	start(t, n)
	for range 3 {
		db.Wait(wanted)
		db.Wait(`select exists (select from pg_stat_activity where datname = current_database() and application_name like '%listen' and query = 'listen nexus_wake')`)
		emit(t, db, "x", nil)
		<-handled
	}
}

func TestWithoutWakeUpsPollingFindsEvents(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Poll: 50 * time.Millisecond, WakeURL: "postgres://nobody@127.0.0.1:1/none"})
	handled := make(chan struct{}, 1)
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { handled <- struct{}{}; return nil })
	start(t, n)
	db.Wait(wanted)
	emit(t, db, "x", nil)
	<-handled
}

// Whether the pool goes through a pooler decides which of these it needs.
func TestEveryQueryMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			cfg := db.Pool.Config().Copy()
			cfg.ConnConfig.DefaultQueryExecMode = mode
			cfg.MaxConns = 4
			pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			n := node.New(pool, node.Config{Namespace: ns, Retry: quick})
			payloads := make(chan string, 9)
			n.On("tx", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Attempt == 1 {
					return fmt.Errorf("first attempt of %s", d.Type)
				}
				payloads <- string(d.Payload)
				_, err := tx.Exec(ctx, `insert into public.effect values ($1::text::uuid, $2)`, d.UID.String(), d.Attempt)
				return err
			})
			n.OnLeased("leased", func(_ context.Context, d *nexus.Delivery) error {
				switch d.Attempt + d.Deferrals {
				case 1:
					return nexus.Release(time.Millisecond)
				case 2:
					return nexus.Retry(time.Millisecond)
				}
				payloads <- string(d.Payload)
				return nil
			})
			n.OnLeased("rejected", func(context.Context, *nexus.Delivery) error { return nexus.Reject(`"quotes", \ and 'more'`) })
			start(t, n)
			const payload = `{"n": 12345678901234567890, "s": "\\ \" ' ä"}`
			for _, eventType := range []string{"tx", "leased", "rejected"} {
				if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), pool, eventType, json.RawMessage(payload), nil); err != nil {
					t.Fatal(err)
				}
			}
			db.Wait(queueEmpty)
			for range 2 {
				if got := <-payloads; got != payload {
					t.Errorf("payload %s, want %s", got, payload)
				}
			}
			if got := dbtest.Get[string](db, `select reason from core.dead_letters`); got != `"quotes", \ and 'more'` {
				t.Errorf("reason %s", got)
			}
			if got := dbtest.Get[int](db, `select count(*)::int from public.effect`); got != 1 {
				t.Errorf("%d effects", got)
			}
		})
	}
}

func TestWorkersOfAHandler(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, LeasedWorkers: 6})
	var running, most atomic.Int32
	blocked := make(chan struct{})
	few := n.OnLeased("few", func(context.Context, *nexus.Delivery) error {
		now := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		<-blocked
		return nil
	})
	few.Workers = 2
	n.OnLeased("many", func(context.Context, *nexus.Delivery) error { return nil })
	start(t, n)
	for range 20 {
		emit(t, db, "few", nil)
	}
	for range 200 {
		emit(t, db, "many", nil)
	}
	// The others get through while the few are stuck and many of them wait at the head of the queue, of which no more are
	// claimed than have a worker.
	db.Wait(`select not exists (select from pgmq.q_core_events_shop where message ->> 'eventType' = 'many')`)
	db.Wait(`select count(*) = 2 from pgmq.q_core_events_shop where read_ct > 0`)
	close(blocked)
	db.Wait(queueEmpty)
	if got := most.Load(); got != 2 {
		t.Errorf("%d at once, want 2", got)
	}
}

func TestOnlyLimitedHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, LeasedWorkers: 4})
	for _, eventType := range []string{"a", "b"} {
		n.OnLeased(eventType, func(context.Context, *nexus.Delivery) error { return nil }).Workers = 1
	}
	start(t, n)
	for range 50 {
		emit(t, db, "a", nil)
		emit(t, db, "b", nil)
	}
	db.Wait(queueEmpty)
}

func TestTwoNodesShareTheWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const events = 40
	var meet sync.WaitGroup
	meet.Add(2)
	var counts [2]atomic.Int32
	for i := range counts {
		n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 1})
		n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if counts[i].Add(1) == 1 {
				// A node that had taken everything in advance would wait here for the other one for ever.
				meet.Done()
				meet.Wait()
			}
			return effect(ctx, tx, d, "")
		})
		start(t, n)
	}
	for range events {
		emit(t, db, "x", nil)
	}
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select count(*) || '/' || count(distinct event_uid) from public.effect`); got != fmt.Sprintf("%d/%[1]d", events) {
		t.Errorf("effects/events %s, want %d/%[2]d", got, events)
	}
	if ids := dbtest.Get[int](db, `select count(distinct node_id)::int from core.nodes where state = 'active'`); ids != 2 {
		t.Errorf("%d active nodes, want 2 under different ids", ids)
	}
}

// An emitter that takes its id early and commits seconds later is below the floor by then.
// holds: others-held
func TestLateCommitIsFound(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	handled := make(chan string, 100)
	n.OnLeased("*", func(_ context.Context, d *nexus.Delivery) error { handled <- d.Type; return nil })
	start(t, n)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), tx, "late", nil, nil); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); {
		emit(t, db, "early", nil)
		if got := <-handled; got != "early" {
			t.Fatalf("handled %q before it was committed", got)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-handled; got != "late" {
		t.Errorf("handled %q", got)
	}
}

// Events of types that this node does not handle, more than a sweep looks at, hide neither new events nor due retries.
func TestCrowdOfForeignTypes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`insert into pgmq.q_core_events_shop (vt, message)
		select clock_timestamp() - interval '1 h', jsonb_build_object('eventType', 'foreign', 'n', i) from generate_series(1, 12000) i`)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
	n.OnLeased("mine", func(_ context.Context, d *nexus.Delivery) error {
		if d.Attempt == 1 {
			return errors.New("again")
		}
		return nil
	})
	start(t, n)
	emit(t, db, "mine", nil)
	db.Wait(`select not exists (select from pgmq.q_core_events_shop where message ->> 'eventType' = 'mine')`)
	if got := dbtest.Get[int](db, `select coalesce(max(read_ct), 0) from (select read_ct from pgmq.q_core_events_shop union all select read_ct from core.parked) m`); got != 0 {
		t.Errorf("a foreign event was claimed %d times", got)
	}
}

// A lease that nobody renews ends, and the event runs again: nothing but vt decides.
// holds: others-claims
func TestExpiredLeaseRunsAgain(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	r := emit(t, db, "x", nil)
	db.Exec(`select * from core_node.claim('core_events_shop', '{x}', '{0}', 1, '1 hour')`) // a node that died
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	start(t, n)
	db.Wait(wanted)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != 0 {
		t.Error("handled while another node had the lease")
	}
	db.Advance(time.Hour)
	// Nobody knows what it died of: that read is given back.
	db.Wait(`select attempt = 1 from public.effect where event_uid = $1`, r.EventUID.String())
}

func TestLargePayloads(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	sizes := make(chan int, 2)
	n.OnLeased("x", func(_ context.Context, d *nexus.Delivery) error { sizes <- len(d.Payload); return nil })
	big := strings.Repeat("x", 7_000_000)
	for range 2 {
		emit(t, db, "x", big)
	}
	start(t, n)
	for range 2 {
		if got := <-sizes; got != len(big)+2 {
			t.Errorf("%d bytes, want %d", got, len(big)+2)
		}
	}
}

// hears returns a log that closes told when words come up in it.
func hears(words string, told chan struct{}) io.Writer {
	r, w := io.Pipe()
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if told != nil && strings.Contains(lines.Text(), words) {
				close(told)
				told = nil
			}
		}
	}()
	return w
}

// A claim whose commit was lost, as by an asynchronous failover or a restore, is given again, and the second node's lease looks like the
// first one's but for its time. What the first one answers changes nothing.
// holds: HA4
func TestLostClaim(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"On", "OnLeased", "OnBatch leased"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			told := make(chan struct{})
			log := slog.New(slog.NewTextHandler(hears("lease lost", told), nil))
			type gate struct{ in, out chan struct{} }
			run := func(id string) gate {
				g := gate{make(chan struct{}, 1), make(chan struct{})}
				cfg := node.Config{Namespace: ns, ID: id, Workers: 1, Logger: log}
				if mode == "OnLeased" {
					cfg.Workers, cfg.LeasedWorkers = 0, 1
				}
				n := node.New(db.Pool, cfg)
				one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
					g.in <- struct{}{}
					<-g.out
					if tx == nil {
						return nil
					}
					return effect(ctx, tx, d, id)
				}
				switch mode {
				case "On":
					n.On("x", one)
				case "OnLeased":
					n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error { return one(ctx, nil, d) })
				default:
					n.OnBatch("x", eachOf(one)).Leased = true
				}
				start(t, n)
				<-g.in
				return g
			}
			emit(t, db, "x", nil)
			before := dbtest.Get[time.Time](db, `select vt from pgmq.q_core_events_shop`)
			first := run("first")
			db.Exec(`update pgmq.q_core_events_shop set read_ct = 0, last_read_at = null, vt = $1`, before)
			second := run("second")
			close(first.out)
			<-told
			if dbtest.Get[bool](db, queueEmpty) {
				t.Error("the first one's answer removed what the second one handles")
			}
			close(second.out)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select coalesce(string_agg(note, ','), '') from public.effect`); mode != "OnLeased" && got != "second" {
				t.Errorf("effects of %q", got)
			}
		})
	}
}

// An idle node asks one small question for all its modes, and claims only when something is due.
// holds: E5-idle
func TestAnIdleNodeClaimsNothing(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`do $$ begin execute format('alter database %I set track_functions = ''pl''', current_database()); end $$`)
	db.Pool.Reset()
	n := node.New(db.Pool, node.Config{Namespace: ns, Poll: 50 * time.Millisecond, Retry: quick})
	handled := make(chan string, 9)
	n.OnLeased("leased", func(_ context.Context, d *nexus.Delivery) error {
		if d.Attempt == 1 {
			return nexus.Retry(2 * time.Second)
		}
		handled <- d.Type
		return nil
	})
	n.On("express", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { handled <- d.Type; return nil }).Express = true
	n.OnBatch("batch", func(_ context.Context, _ pgx.Tx, ds []*nexus.Delivery) error { handled <- ds[0].Type; return nil })
	start(t, n)
	const calls = `(select coalesce(sum(calls), 0) from pg_stat_user_functions where schemaname = 'core_node' and funcname in (%s))`
	looks, claims := fmt.Sprintf(calls, `'look'`), fmt.Sprintf(calls, `'claim', 'claim_batch', 'settle_and_claim'`)
	db.Wait("select " + looks + " >= 20")
	// A session that does nothing tells its counts after ten seconds, so what was claimed at the start comes late.
	again(t, "looks without a claim", func() error {
		before := dbtest.Get[int](db, "select "+claims+"::int")
		db.Wait(fmt.Sprintf("select %s >= %d", looks, dbtest.Get[int](db, "select "+looks+"::int")+10))
		if after := dbtest.Get[int](db, "select "+claims+"::int"); after > before {
			return fmt.Errorf("%d claims of an idle node", after-before)
		}
		return nil
	})
	for _, kind := range []string{"express", "batch", "leased"} { // the last one comes back without a call
		emit(t, db, kind, nil)
		if got := <-handled; got != kind {
			t.Errorf("handled %s, want %s", got, kind)
		}
	}
}
