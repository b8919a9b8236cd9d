package nexussql_test

import (
	"context"
	"errors"
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// leases are the fences of what a claim leased.
type leases struct {
	ids []int64
	cts []int32
	ats []time.Time
}

const claimLimited = `select msg_id, read_ct, last_read_at, outcome = 'limited' and message is not null, coalesce(message #>> '{}', '')
	from core_node.claim('core_events_shop', '{a}', '{0}', $1, '1 min', 1) where outcome in ('claimed', 'limited')`

func read(rows pgx.Rows, err error) (l leases, by string, _ error) {
	if err != nil {
		return l, "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var ct *int32
		var at *time.Time
		var held bool
		var why string
		if err := rows.Scan(&id, &ct, &at, &held, &why); err != nil {
			return l, "", err
		}
		if at == nil {
			by = why
			continue
		}
		l.ids, l.cts, l.ats = append(l.ids, id), append(l.cts, *ct), append(l.ats, *at)
	}
	return l, by, rows.Err()
}

// C4: eight sessions claim, give back and settle at once, alone and in one exchange; three places are three places.
// holds: C4 (races)
func TestMaxInFlightUnderRaces(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	const events = 1200
	db.Exec(`select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 3}')`)
	// Counted by the queue itself at first, by the notes of the claims after a minute.
	db.Exec(`update core_private.consumer_limits set counts_from = counts_from - interval '1 hour'`)
	db.Exec(`select core.emit_batch('shop', array_fill('a'::text, array[$1::int]), array_fill('1'::jsonb, array[$1::int]))`, events)
	var inFlight, most, done atomic.Int64
	var failed atomic.Bool
	took := func(n int) {
		now := inFlight.Add(int64(n))
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
	}
	errs := atOnce(t, db, 8, func(ctx context.Context, conn *pgx.Conn, i int) error {
		r := rand.New(rand.NewSource(int64(i)))
		var have leases
		for done.Load() < events && !failed.Load() {
			inFlight.Add(-int64(len(have.ids))) // before it is settled, so never less than there are
			var next leases
			var err error
			if r.Intn(2) == 0 {
				next, _, err = read(conn.Query(ctx, `select msg_id, read_ct, last_read_at, false, '' from core_node.settle_and_claim('core_events_shop', 'n', $1, $2, $3, '[]', '{a}', '{0}', $4, '1 min', 1)
					where outcome = 'claimed'`, notNil(have.ids), notNil(have.cts), notNil(have.ats), 1+r.Intn(5)))
			} else {
				if len(have.ids) > 0 {
					_, err = conn.Exec(ctx, `select core_node.settle('core_events_shop', 'n', $1, $2, $3)`, have.ids, have.cts, have.ats)
				}
				if err == nil {
					next, _, err = read(conn.Query(ctx, claimLimited, 1+r.Intn(5)))
				}
			}
			if err != nil {
				failed.Store(true)
				return err
			}
			done.Add(int64(len(have.ids)))
			took(len(next.ids))
			have = next
		}
		return nil
	})
	noErrors(t, errs)
	if n := most.Load(); n != 3 {
		t.Errorf("%d in flight, want 3", n)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Whoever claims in a long transaction, as core.work does, keeps the places that it may take; nobody waits long for it, and a lease is
// renewed all the same.
// holds: C4 (races)
func TestLimitsThatSomebodyKeeps(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 3}')`)
	db.Exec(`select core.emit_batch('shop', array_fill('a'::text, array[10]), array_fill('1'::jsonb, array[10]))`)
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	mine, _, err := read(conn.Query(t.Context(), claimLimited, 1))
	if err != nil || len(mine.ids) != 1 {
		t.Fatalf("claimed %v: %v", mine.ids, err)
	}
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if l, _, err := read(tx.Query(t.Context(), claimLimited, 1)); err != nil || len(l.ids) != 1 {
		t.Fatalf("claimed %v: %v", l.ids, err)
	}
	began := time.Now()
	l, by, err := read(conn.Query(t.Context(), claimLimited, 5))
	if err != nil || len(l.ids) != 0 || by != "lock" {
		t.Errorf("beside it: claimed %v, held back by %q: %v", l.ids, by, err)
	}
	var lost int
	if err := conn.QueryRow(t.Context(), `select count(*) from core_node.extend('core_events_shop', $1, $2, $3, '1 min')`, mine.ids, mine.cts, mine.ats).Scan(&lost); err != nil || lost != 0 {
		t.Errorf("%d leases lost: %v", lost, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("waited %s", took)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l, by, err := read(conn.Query(t.Context(), claimLimited, 5)); err != nil || len(l.ids) != 1 || by != "max_in_flight" {
		t.Errorf("after it: claimed %v, held back by %q: %v", l.ids, by, err)
	}

	// A snapshot of before does not see what others have claimed since.
	old, err := db.Owner.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Rollback(context.Background())
	_, _, err = read(old.Query(t.Context(), claimLimited, 5))
	if said, ok := errors.AsType[*pgconn.PgError](err); !ok || said.Code != "55000" {
		t.Errorf("in repeatable read: %v", err)
	}
}
