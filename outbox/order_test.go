package outbox_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// holds: LN2
// Producers whose transactions overlap, commit late and roll back, beside a snapshot that is held and processors whose connections are cut:
// each committed message is handled once, in numbers without a gap, and each producer's own in their order.
func TestOrderUnderTraffic(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"snapshots": false, "strict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
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
			cut, ended := context.WithCancel(t.Context())
			var cutting sync.WaitGroup
			cutting.Go(func() {
				for cut.Err() == nil {
					_, _ = db.Owner.Exec(cut, `select pg_terminate_backend(pid) from (
						select pid from pg_stat_activity where datname = current_database() and query ~ 'fetch_lane|settle_lane|public.effect' and pid <> pg_backend_pid()
						   and backend_xmin is null order by random() limit 1) x, pg_sleep(0.05)`)
				}
			})
			// A pool of their own, since those of the nodes are cut.
			producers, err := pgxpool.NewWithConfig(t.Context(), db.Pool.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer producers.Close()
			var wants [8][]string
			var producing sync.WaitGroup
			for p := range wants {
				producing.Go(func() { wants[p] = produce(t, db, producers, p, transactions, strict) })
			}
			producing.Wait()
			ended()
			cutting.Wait()
			total := 0
			for p, want := range wants {
				total += len(want)
				for lane := range 4 {
					key := keyOf(t, db, p, lane)
					db.Wait(`select count(*) = $2 from public.effect where body like $1 || ' %'`, key, count(want, key))
				}
			}
			for p, want := range wants {
				for lane := range 4 {
					key := keyOf(t, db, p, lane)
					got := dbtest.Get[[]string](db, `select coalesce(array_agg(body order by n), '{}') from public.effect where body like $1 || ' %'`, key)
					i := 0
					for _, w := range want {
						if count([]string{w}, key) == 1 {
							if i >= len(got) || got[i] != w {
								t.Fatalf("key %s: at %d of %q, want %q", key, i, got, w)
							}
							i++
						}
					}
				}
			}
			if bad := dbtest.Get[int64](db, `select count(*) from (
				select lane, seq, row_number() over (partition by lane order by n) as nth from public.effect) e where e.seq <> e.nth`); bad > 0 {
				t.Errorf("%d messages have a number that is not their turn", bad)
			}
			if n := dbtest.Get[int64](db, "select count(*) from public.effect"); n != int64(total) {
				t.Errorf("%d handled of %d", n, total)
			}
		})
	}
}

// keyOf is a key of a producer that is in that lane, whose first digit it is.
func keyOf(t *testing.T, db *dbtest.DB, p, lane int) string {
	t.Helper()
	return dbtest.Get[string](db, `select format('p%s-%s', $1::int, i) from generate_series(0, 999) i where core_private.lane_of_key(format('p%s-%s', $1::int, i), 4) = $2 order by i limit 1`, p, lane)
}

func count(all []string, key string) (n int) {
	for _, s := range all {
		if len(s) > len(key) && s[:len(key)+1] == key+" " {
			n++
		}
	}
	return n
}

// produce runs transactions, one after the other, which stay open while others commit. It returns what was committed. Those that enqueue
// once cannot wait for one another in a circle.
func produce(t *testing.T, db *dbtest.DB, pool *pgxpool.Pool, p, transactions int, once bool) (committed []string) {
	t.Helper()
	random := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, p))))
	var keys [4]string
	for lane := range keys {
		keys[lane] = keyOf(t, db, p, lane)
	}
	n := 0
	for range transactions {
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
					if _, err := tx.Exec(t.Context(), "select pg_sleep(random() * 0.02)"); err != nil {
						return err
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
			break
		}
	}
	return committed
}
