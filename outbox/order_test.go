package outbox_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	nexussql "github.com/nexuspg/nexus/sql"
)

// holds: LN2
// Producers whose transactions overlap, commit late and roll back, beside a snapshot that is held and processors whose connections are cut:
// each committed message is handled once, in numbers without a gap, and each producer's own in their order.
// holds: others-held (lanes)
func TestOrderUnderTraffic(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"snapshots": false, "strict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			if !strict { // as those of many lanes are looked at
				db.Exec("create or replace function core_private.few_lanes() returns integer language sql immutable set search_path = pg_catalog, pg_temp as 'select 0'")
			}
			register(t, db, "pay", 4, &outbox.QueueOptions{Strict: strict, Retry: nexus.RetryPolicy{MaxAttempts: -1, Base: time.Millisecond, Max: 5 * time.Millisecond}})
			transactions := 60
			if os.Getenv("NEXUS_TEST_LONG") != "" {
				transactions = 2000
			}
			held, err := db.Pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = held.Rollback(context.Background()) }()
			if _, err := held.Exec(t.Context(), "select count(*) from public.effect"); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				start(t, db, node.Config{Poll: 20 * time.Millisecond, Lease: time.Second}, outbox.Handle("pay", note))
			}
			cut := func() {
				db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity
					where datname = current_database() and usename <> current_user and pid <> $1
					  and query ~ 'fetch_lane|settle_lane|public.effect' order by random() limit 1`, held.Conn().PgConn().PID())
			}
			// A pool of their own, since those of the nodes are cut.
			producers, err := pgxpool.NewWithConfig(t.Context(), db.Pool.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer producers.Close()
			var wants [8][]string
			others := newTurns(len(wants) / 2)
			var producing sync.WaitGroup
			for p := range wants {
				producing.Go(func() { wants[p] = produce(t, db, producers, p, transactions, strict, others, cut) })
			}
			producing.Wait()
			total := 0
			for p, want := range wants {
				total += len(want)
				for lane := range 4 {
					key := keyOf(t, db, p, lane)
					db.Wait(`select count(*) = $2 from public.effect where body like $1 || ' %'`, key, count(want, key))
				}
			}
			inTheirOrder(t, db, wants[:])
			if n := dbtest.Get[int64](db, "select count(*) from public.effect"); n != int64(total) {
				t.Errorf("%d handled of %d", n, total)
			}
		})
	}
}

// inTheirOrder compares what handlers wrote down with what producers committed: no message is handled before one with a smaller number of its lane, and
// those of a key are in the order of their producer. What was handled once more counts when it was first.
func inTheirOrder(t *testing.T, db *dbtest.DB, wants [][]string) {
	t.Helper()
	const first = "(select lane, seq, body, min(n) as n from public.effect group by lane, seq, body) f"
	if bad := dbtest.Get[int64](db, `select count(*) from (
		select seq, row_number() over (partition by lane order by n) as nth from `+first+`) e where e.seq <> e.nth`); bad > 0 {
		t.Errorf("%d messages have a number that is not their turn", bad)
	}
	for p, all := range wants {
		for lane := range 4 {
			key := keyOf(t, db, p, lane)
			var want []string
			for _, body := range all {
				if count([]string{body}, key) == 1 {
					want = append(want, body)
				}
			}
			got := dbtest.Get[[]string](db, `select coalesce(array_agg(body order by n), '{}') from `+first+` where body like $1 || ' %'`, key)
			if !slices.Equal(got, want) {
				t.Errorf("key %s: got %q, want %q", key, got, want)
			}
		}
	}
}

// keyOf is a key of a producer that is in that lane, whose first digit it is.
func keyOf(t *testing.T, db *dbtest.DB, p, lane int) string {
	t.Helper()
	return dbtest.Get[string](db, `select format('p%s-%s', $1::int, i) from generate_series(0, 999) i where (core_private.lanes_of_keys(array[format('p%s-%s', $1::int, i)], 4))[1] = $2 order by i limit 1`, p, lane)
}

func count(all []string, key string) (n int) {
	for _, s := range all {
		if len(s) > len(key) && s[:len(key)+1] == key+" " {
			n++
		}
	}
	return n
}

// turns counts what some producers commit, for others that stay open meanwhile.
type turns struct {
	mu      sync.Mutex
	changed *sync.Cond
	n, left int
}

func newTurns(producers int) *turns {
	c := &turns{left: producers}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// count is called after each commit; last after all of a producer's.
func (c *turns) count(last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; last {
		c.left--
	}
	c.changed.Broadcast()
}

func (c *turns) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// pass waits until somebody has committed since then, or nobody is left who may.
func (c *turns) pass(since int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.n == since && c.left > 0 {
		c.changed.Wait()
	}
}

// produce runs transactions, one after the other, and returns what was committed. Those of odd producers stay open while even ones commit. Where
// lanes are locked nobody can wait for that: they enqueue once, and wait for the locks.
func produce(t *testing.T, db *dbtest.DB, pool *pgxpool.Pool, p, transactions int, once bool, others *turns, cut func()) (committed []string) {
	t.Helper()
	random := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, p))))
	var keys [4]string
	for lane := range keys {
		keys[lane] = keyOf(t, db, p, lane)
	}
	n := 0
	if p%2 == 0 {
		defer others.count(true)
	}
	for i := range transactions {
		for {
			var mine []string
			err := func() error {
				tx, err := pool.Begin(t.Context())
				if err != nil {
					return err
				}
				defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
				calls := 1 + random.IntN(3)
				if once {
					calls = 1
				}
				for range calls {
					var batch []outbox.Message
					for range 1 + random.IntN(4) {
						n++
						key := keys[random.IntN(4)]
						body := fmt.Sprintf("%s %d", key, n)
						batch = append(batch, outbox.Message{Queue: "pay", Key: key, Type: "t", Body: []byte(body)})
						mine = append(mine, body)
					}
					if _, err := outbox.EnqueueBatch(t.Context(), tx, ns, batch); err != nil {
						return err
					}
					if p%2 == 1 && !once {
						others.pass(others.now())
					}
				}
				if random.IntN(5) == 0 {
					mine = nil
					return tx.Rollback(t.Context())
				}
				return tx.Commit(t.Context())
			}()
			if errors.Is(err, nexus.ErrRestartTx) {
				continue
			}
			if err != nil {
				t.Error(err)
				return committed
			}
			committed = append(committed, mine...)
			if p%2 == 0 {
				others.count(false)
			}
			if i%5 == p%5 {
				cut()
			}
			break
		}
	}
	return committed
}

// In a strict queue whoever enqueues to a lane waits for whoever has enqueued to it and not committed, with a key or without: so the order of a lane
// is that of commits. Whoever locks lanes in another order than others is told to begin again, and a savepoint gives its lanes back.
// holds: LN2 (strict)
func TestStrictOrder(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 4, &outbox.QueueOptions{Strict: true})
	const waits = `select exists (select from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'transactionid' and not l.granted and a.datname = current_database())`
	for _, second := range []string{
		"core.outbox_enqueue('shop', 'pay', 'second', 't', 'one')",
		"core.outbox_enqueue('shop', 'pay', 'second', 't')",
		"core.outbox_enqueue_batch('shop', 'pay', '{second}', '{t}')",
	} {
		first, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = first.Rollback(context.Background()) })
		if _, err := outbox.Enqueue(t.Context(), first, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("first")}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := db.Owner.Exec(t.Context(), "select "+second)
			done <- err
		}()
		db.Wait(waits)
		if err := first.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	begin := func() pgx.Tx {
		tx, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		return tx
	}
	enqueue := func(tx pgx.Tx, lane int) error {
		_, err := outbox.Enqueue(t.Context(), tx, ns, outbox.Message{Queue: "pay", Key: keyOf(t, db, 0, lane), Type: "t"})
		return err
	}
	one, other := begin(), begin()
	inner, err := one.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{enqueue(inner, 1), inner.Rollback(t.Context()), enqueue(one, 0), enqueue(other, 1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- enqueue(one, 1) }()
	db.Wait(waits)
	errs := []error{enqueue(other, 0), nil}
	_ = other.Rollback(t.Context())
	errs[1] = <-done
	if failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil }); len(failed) != 1 || !errors.Is(failed[0], nexus.ErrRestartTx) {
		t.Errorf("got %v, want that one of both is to begin again", failed)
	}

	db.Exec("drop table core_private.strict_lanes")
	for _, m := range nexussql.Migrations() {
		if strings.HasSuffix(m.Name(), "_add_strict_lanes") {
			db.Exec(m.Body)
		}
	}
	if n := dbtest.Get[int64](db, "select count(*) from core_private.strict_lanes"); n != 4 {
		t.Errorf("an upgrade leaves %d lanes to lock, of 4", n)
	}
}
