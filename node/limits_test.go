package node_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// limited is a node process whose handlers write into a ledger when they begin and when they end, in transactions of their own.
func limited(ctx context.Context, pool *pgxpool.Pool, mode string) error {
	n := node.New(pool, node.Config{Namespace: ns, Lease: 2 * time.Second, Retry: nexus.RetryPolicy{MaxAttempts: 50}})
	work := func(ctx context.Context, batch ...*nexus.Delivery) error {
		var ids []int64
		for _, d := range batch {
			var id int64
			if err := pool.QueryRow(ctx, `insert into public.ledger (pid, event_uid) values ($1, $2) returning id`, os.Getpid(), d.UID).Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		_, err := pool.Exec(ctx, `select pg_sleep(0.01)`)
		if err == nil {
			_, err = pool.Exec(ctx, `update public.ledger set ended = clock_timestamp() where id = any ($1)`, ids)
		}
		return err
	}
	switch mode {
	case "limited leased":
		n.OnLeased("*", func(ctx context.Context, d *nexus.Delivery) error { return work(ctx, d) })
	case "limited On express":
		n.On("*", func(ctx context.Context, _ pgx.Tx, d *nexus.Delivery) error { return work(ctx, d) }).Express = true
	case "limited OnBatch":
		n.OnBatch("*", func(ctx context.Context, _ pgx.Tx, batch []*nexus.Delivery) error { return work(ctx, batch...) })
	default:
		return fmt.Errorf("there is no mode %q", mode)
	}
	return n.Run(ctx)
}

// mostAtOnce is the largest number of handlers that the ledger shows at one time. Those of a killed process ended with it.
const mostAtOnce = `select max(n)::int
  from (select sum(d) over (order by at, d) as n
          from (select began as at, 1 as d from public.ledger
                 union all
                select coalesce(ended, greatest(began, (select k.at from public.kills k where k.pid = l.pid))), -1 from public.ledger l) e) s`

// Four processes share three places, and are killed with -9 one after the other: what a killed one had comes back with its leases, and
// never are there more than three at once.
// holds: C4 (kills)
func TestMaxInFlightOverKilledNodes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"limited leased", "limited On express", "limited OnBatch"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			const events = 300
			db := newDB(t)
			db.Exec(`create table public.ledger (id bigint generated always as identity primary key, pid int, event_uid uuid, began timestamptz default clock_timestamp(), ended timestamptz)`)
			db.Exec(`create table public.kills (pid int, at timestamptz)`)
			db.Exec(`grant select, insert, update on public.ledger to ` + dbtest.Login)
			db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"max_in_flight": 3}')`)
			emitMany(t, db, events)
			var victims []func()
			for range 4 {
				cmd := spawn(t, db, mode)
				victims = append(victims, func() {
					kill(cmd)
					db.Exec(`insert into public.kills values ($1, clock_timestamp())`, cmd.Process.Pid)
				})
			}
			for i, v := range victims {
				db.Wait(`select count(*) >= ` + strconv.Itoa(events*(i+1)/6) + ` from public.ledger where ended is not null`)
				v()
				spawn(t, db, mode)
			}
			db.Wait(queueEmpty)
			// Those of a batch of On handlers run one after the other, and a batch may have all places.
			if n := dbtest.Get[int](db, mostAtOnce); n > 3 || n < 3 && mode != "limited On express" {
				t.Errorf("%d at once, want 3", n)
			}
			if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.ledger where ended is not null`); n != events {
				t.Errorf("%d events were handled, want %d", n, events)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core_private.express_batches`); n != 0 {
				t.Errorf("%d batches were express", n)
			}
		})
	}
}

// A minute of the database's clock, which goes on a second at a time: two nodes handle what the rate says, and no more.
// holds: C4 (rate)
func TestRateOverNodes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.SetNow(db.Now())
	db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"rate": "1000/min"}')`)
	emitMany(t, db, 1500)
	var handled atomic.Int64
	for range 2 {
		n := node.New(db.Pool, node.Config{Namespace: ns})
		n.OnLeased("*", func(context.Context, *nexus.Delivery) error { handled.Add(1); return nil })
		start(t, n)
	}
	const bucket = 17 // one, and a second's worth
	for second := range 61 {
		want := bucket + 1000*second/60
		db.Wait(`select count(*) <= $1 from pgmq.q_core_events_shop`, 1500-want)
		db.Advance(time.Second)
	}
	if n := handled.Load(); n < 1000 || n > 1050 {
		t.Errorf("%d in a minute, at a rate of 1000", n)
	}
	if got := dbtest.Get[[]string](db, `select array_agg(format('%s %s', rate, in_flight)) from core.consumer_status where namespace = 'shop'`); !cmp.Equal(got, []string{"1000/min "}) {
		t.Errorf("status: %v", got)
	}
}

// holds: C4 (rate, by the real clock)
func TestRateInAMinute(t *testing.T) {
	t.Parallel()
	if os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("a minute; NEXUS_TEST_LONG=1 takes it")
	}
	db := newDB(t)
	db.Exec(`create table public.went (at timestamptz default clock_timestamp())`)
	db.Exec(`grant insert on public.went to ` + dbtest.Login)
	db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"rate": "100/min"}')`)
	emitMany(t, db, 300)
	for range 4 {
		n := node.New(db.Pool, node.Config{Namespace: ns})
		n.OnLeased("*", func(ctx context.Context, _ *nexus.Delivery) error {
			_, err := db.Pool.Exec(ctx, `insert into public.went default values`)
			return err
		})
		start(t, n)
	}
	db.Wait(`select exists (select from public.went)`)
	ended := time.After(75 * time.Second)
	<-ended
	for _, q := range []string{"max", "min"} {
		n := dbtest.Get[int](db, `select `+q+`(n)::int from (select count(*) over (order by at range between current row and interval '1 minute' following) as n, at from public.went) w
			where at <= (select min(at) + interval '14 s' from public.went)`)
		if n < 95 || n > 105 {
			t.Errorf("%s of a minute: %d, at a rate of 100", q, n)
		}
	}
}

// A limit that is raised holds within a second, without a wake-up; one that is lowered from the next claim on.
// holds: C4 (altered)
func TestLimitsAreAlteredUnderWay(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"max_in_flight": 1}')`)
	emitMany(t, db, 10)
	var running, most atomic.Int64
	began, end := make(chan struct{}, 10), make(chan struct{})
	for range 2 {
		n := node.New(db.Pool, node.Config{Namespace: ns})
		n.OnLeased("*", func(context.Context, *nexus.Delivery) error {
			if r := running.Add(1); r > most.Load() {
				most.Store(r)
			}
			began <- struct{}{}
			<-end
			running.Add(-1)
			return nil
		})
		start(t, n)
	}
	status := `select in_flight = $1 from core.consumer_status where namespace = 'shop' and consumer = 'default'`
	<-began
	db.Wait(status, 1)
	db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"max_in_flight": 3}')`)
	altered := time.Now()
	<-began
	<-began
	if took := time.Since(altered); took > 3*time.Second {
		t.Errorf("the places were taken after %s", took)
	}
	db.Wait(status, 3)
	db.Exec(`select core.alter_consumer('` + ns + `', 'default', null, '{"max_in_flight": 2}')`)
	end <- struct{}{}
	db.Wait(status, 2)
	end <- struct{}{}
	<-began
	if n := most.Load(); n != 3 {
		t.Errorf("%d at once, want 3", n)
	}
	close(end)
	db.Wait(queueEmpty)
}

// holds: C4 (SQL handlers)
func TestSQLHandlersObeyLimits(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	writeHandler(t, db, "bounded", "", `begin insert into notes values ('ran'); end`)
	emitMany(t, db, 10)
	claim := func() (n int) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), db.SQLURL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		var ids []int64
		if err := conn.QueryRow(t.Context(), `select max(c.ids) from core_node.claim_sql($1) c`, pgx.QueryExecModeExec, ns).Scan(&ids); err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	alter := func(options string) {
		db.Exec(`select core.alter_consumer('shop', 'bounded', null, $1)`, options)
	}
	alter(`{"max_in_flight": 3}`)
	if a, b := claim(), claim(); a != 3 || b != 0 {
		t.Errorf("claimed %d, then %d; want 3 and 0", a, b)
	}
	alter(`{"max_in_flight": 4}`)
	if n := claim(); n != 1 {
		t.Errorf("claimed %d more, want 1", n)
	}
	db.SetNow(db.Now())
	alter(`{"max_in_flight": null, "rate": "2/min"}`)
	if a, b := claim(), claim(); a != 1 || b != 0 {
		t.Errorf("claimed %d, then %d at a rate; want 1 and 0", a, b)
	}
	alter(`{"rate": null}`)
	if n := claim(); n != 5 {
		t.Errorf("claimed %d, want the 5 that are left", n)
	}
}
