package nexussql_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// atOnce runs f in n sessions of their own and returns their errors.
func atOnce(t *testing.T, db *dbtest.DB, n int, f func(ctx context.Context, conn *pgx.Conn, i int) error) []error {
	t.Helper()
	conns := make([]*pgx.Conn, n) // all of them before the first begins, so that they do meet
	for i := range conns {
		conn, err := pgx.Connect(t.Context(), db.OwnerURL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		conns[i] = conn
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, conn := range conns {
		wg.Go(func() { errs[i] = f(t.Context(), conn, i) })
	}
	wg.Wait()
	return errs
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// E2: eight sessions, new keys each round, in any order, a third of the transactions rolled back.
// holds: E2, others-unique, others-deadlocks
func TestDedupeKeysUnderRollbacks(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const keys = 12
	var mu sync.Mutex
	committed := map[string]map[string]bool{} // key → event ids that a committed call was told
	errs := atOnce(t, db, 8, func(ctx context.Context, conn *pgx.Conn, i int) error {
		r := rand.New(rand.NewSource(int64(i)))
		for round := range 40 {
			// Keys that are new to all, so that the sessions meet in them again and again.
			order := r.Perm(keys)
			for j := range order {
				order[j] += round * keys
			}
			order = order[:10]
			types, payloads, options := make([]string, 10), make([]string, 10), make([]string, 10)
			for j, k := range order {
				types[j], payloads[j], options[j] = "x", "1", fmt.Sprintf(`{"dedupe_key": "k%d"}`, k)
			}
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			rows, err := tx.Query(ctx, `select event_id::text from core.emit_batch('shop', $1::text[], $2::text[]::jsonb[], $3::text[]::jsonb[])`, types, payloads, options)
			if err != nil {
				return err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			if r.Intn(3) == 0 {
				if err := tx.Rollback(ctx); err != nil {
					return err
				}
				continue
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
			mu.Lock()
			for j, k := range order {
				key := fmt.Sprintf("k%d", k)
				if committed[key] == nil {
					committed[key] = map[string]bool{}
				}
				committed[key][ids[j]] = true
			}
			mu.Unlock()
		}
		return nil
	})
	noErrors(t, errs) // a deadlock would be one
	for key, ids := range committed {
		if len(ids) != 1 {
			t.Errorf("key %s: committed calls were told %d different events", key, len(ids))
		}
		for id := range ids {
			if !dbtest.Get[bool](db, `select exists (select from core.event_log where event_id = $1::bigint)`, id) {
				t.Errorf("key %s names event %s, which does not exist", key, id)
			}
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log`); n != len(committed) {
		t.Errorf("%d events for %d keys", n, len(committed))
	}
}

// E2: an expired key is taken over by whoever commits. One who rolls back leaves it to the next, who must not be told of the event
// that had the key before, since that is as if its own were lost.
// holds: E2, others-unique
func TestAnExpiredKeyIsFreeAfterARollback(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const emit = `select event_id::text || duplicate::text from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}')`
	old := dbtest.Get[string](db, emit)
	db.Advance(8 * 24 * time.Hour)
	first, second, err := secondWaits[string](t, db, emit, func(tx pgx.Tx) error { return tx.Rollback(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	if first == old || second == old || !strings.HasSuffix(second, "false") {
		t.Errorf("the call that rolled back was told %s, the next one %s; the expired event is %s", first, second, old)
	}
}

// E2: of a key that ends with the handling of its event there is never more than one pending, while emitters, who may roll back, and
// handlers get in each other's way; and whoever was told that its event was written finds it handled.
// holds: E2
func TestOneIsPendingAtATime(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	var written, handled atomic.Int64
	var emitting atomic.Int32
	emitting.Store(6)
	noErrors(t, atOnce(t, db, 8, func(ctx context.Context, conn *pgx.Conn, i int) error {
		if i >= 6 {
			for {
				last := emitting.Load() == 0
				var ids, cts, ats *string
				var n int
				err := conn.QueryRow(ctx, `select array_agg(c.msg_id)::text, array_agg(c.read_ct)::text, array_agg(c.last_read_at)::text, count(*)
					from core_node.claim('core_events_shop', '{x}', '{0}', 10, '1 min') c where c.outcome = 'claimed'`).Scan(&ids, &cts, &ats, &n)
				if err != nil {
					return err
				}
				if n > 0 {
					if _, err := conn.Exec(ctx, `select core_node.settle('core_events_shop', null, $1::text::bigint[], $2::text::integer[], $3::text::timestamptz[])`, ids, cts, ats); err != nil {
						return err
					}
				}
				handled.Add(int64(n))
				if n > 1 {
					return fmt.Errorf("%d were pending at once", n)
				}
				if last && n == 0 {
					return nil
				}
			}
		}
		defer emitting.Add(-1)
		r := rand.New(rand.NewSource(int64(i)))
		for n := 0; n < 100 || written.Load() < 2; n++ {
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			var duplicate bool
			if err := tx.QueryRow(ctx, `select duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k", "dedupe_while": "pending"}')`).Scan(&duplicate); err != nil {
				return err
			}
			if r.Intn(4) == 0 {
				err = tx.Rollback(ctx)
			} else if err = tx.Commit(ctx); err == nil && !duplicate {
				written.Add(1)
			}
			if err != nil {
				return err
			}
			var pending int
			if err := conn.QueryRow(ctx, `select count(*) from pgmq.q_core_events_shop`).Scan(&pending); err != nil {
				return err
			}
			if pending > 1 {
				return fmt.Errorf("%d are pending at once", pending)
			}
		}
		return nil
	}))
	if written.Load() != handled.Load() || written.Load() < 2 {
		t.Errorf("%d were written, %d handled", written.Load(), handled.Load())
	}
}

// E2: whoever changes something and emits with a key that holds while the event is queued has the change seen by a handler that began
// after the commit, be it told that the event is a duplicate and commit however late.
// holds: E2
func TestWhatIsToldADuplicateIsSeen(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`create table public.changes (n bigint generated always as identity, seen boolean not null default false)`)
	var duplicates atomic.Int64
	var changing atomic.Int32
	changing.Store(6)
	noErrors(t, atOnce(t, db, 9, func(ctx context.Context, conn *pgx.Conn, i int) error {
		if i >= 6 {
			for {
				last := changing.Load() == 0
				var ids, cts, ats *string
				if err := conn.QueryRow(ctx, `select array_agg(c.msg_id)::text, array_agg(c.read_ct)::text, array_agg(c.last_read_at)::text
					from core_node.claim('core_events_shop', '{x}', '{0}', 10, '1 min') c where c.outcome = 'claimed'`).Scan(&ids, &cts, &ats); err != nil {
					return err
				}
				switch {
				case ids != nil:
					if _, err := conn.Exec(ctx, `update public.changes set seen = true where not seen`); err != nil {
						return err
					}
					if _, err := conn.Exec(ctx, `select core_node.settle('core_events_shop', null, $1::text::bigint[], $2::text::integer[], $3::text::timestamptz[])`, ids, cts, ats); err != nil {
						return err
					}
				case last && dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`) == 0:
					return nil
				}
			}
		}
		defer changing.Add(-1)
		for range 100 {
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `insert into public.changes default values`); err != nil {
				return err
			}
			var duplicate bool
			if err := tx.QueryRow(ctx, `select duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k", "dedupe_while": "queued"}')`).Scan(&duplicate); err != nil {
				return err
			}
			if duplicate {
				duplicates.Add(1)
				if _, err := tx.Exec(ctx, `select count(*) from pg_proc a cross join generate_series(1, 3)`); err != nil { // handlers get ahead
					return err
				}
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	if n := dbtest.Get[int](db, `select count(*)::int from public.changes where not seen`); n > 0 || duplicates.Load() < 10 {
		t.Errorf("%d changes were never seen; %d of 600 emits were told a duplicate", n, duplicates.Load())
	}
}

// E2: emitters that always overlap do not keep the event from everybody for ever.
// holds: E2
func TestAnEventIsHeldForASecond(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const emit = `select duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k", "dedupe_while": "queued"}')`
	const claim = `select count(*)::int from core_node.claim('core_events_shop', '{x}', '{0}', 10, '1 min') c where c.outcome = 'claimed'`
	duplicate := func(want bool, when string) {
		t.Helper()
		if got := dbtest.Get[bool](db, emit); got != want {
			t.Errorf("%s it is a duplicate: %t", when, got)
		}
	}
	hold := func() pgx.Tx {
		t.Helper()
		tx, err := db.Owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		var duplicate bool
		if err := tx.QueryRow(t.Context(), emit).Scan(&duplicate); err != nil || !duplicate {
			t.Fatalf("duplicate: %t, %v", duplicate, err)
		}
		return tx
	}
	duplicate(false, "at first")
	db.Advance(time.Minute)
	duplicate(true, "while nobody holds it, however long it has been due,")
	first := hold()
	if n := dbtest.Get[int](db, claim); n != 0 {
		t.Errorf("%d were claimed under one who was told of it", n)
	}
	duplicate(false, "while another holds it")
	second := hold()
	duplicate(true, "of the second, which has just been emitted,")
	if err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, claim); n != 1 {
		t.Errorf("%d were claimed, want the first", n)
	}
	if err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, claim); n != 1 {
		t.Errorf("%d were claimed, want the second", n)
	}
}

// D1: claimers share nothing, and together they get everything.
// holds: D1-floor, others-claims
func TestClaimersShareNothing(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const events = 4000
	db.Exec(`select count(*) from core.emit_batch('shop', array_fill('x'::text, array[$1::int]), array_fill('1'::jsonb, array[$1::int]))`, events)
	var mu sync.Mutex
	seen := map[int64]int{}
	noErrors(t, atOnce(t, db, 8, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		for empty := 0; empty < 20; {
			rows, err := conn.Query(ctx, `select msg_id from core_node.claim('core_events_shop', '{x}', '{0}', 37, '1 hour') where outcome = 'claimed'`)
			if err != nil {
				return err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				empty++
			}
			mu.Lock()
			for _, id := range ids {
				seen[id]++
			}
			mu.Unlock()
		}
		return nil
	}))
	if len(seen) != events {
		t.Errorf("%d messages were claimed, want %d", len(seen), events)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %d was claimed %d times", id, n)
		}
	}
}

// L4: of many replays at once one replays.
// holds: L4
func TestReplayOnce(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.emit('shop', 'x')`)
	db.Exec(`select core_node.claim('core_events_shop', '{x}', '{0}', 1, '1 hour')`)
	db.Exec(`select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object(
		'id', 1, 'ct', 1, 'at', (select last_read_at from pgmq.q_core_events_shop), 'action', 'reject', 'reason', 'bad', 'error', 'bad')))`)
	errs := atOnce(t, db, 8, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		_, err := conn.Exec(ctx, `select core.replay_dead_letter(1)`)
		return err
	})
	done := 0
	for _, err := range errs {
		var pg *pgconn.PgError
		switch {
		case err == nil:
			done++
		case !errors.As(err, &pg) || pg.Code != "NX205":
			t.Errorf("a late replay: %v, want NX205", err)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`); done != 1 || n != 1 {
		t.Errorf("%d replays, %d messages; want 1 and 1", done, n)
	}
}

// secondWaits runs a statement in a transaction, the same one in a second session until that waits for the first, then ends the
// first, and returns what the second got.
func secondWaits[T any](t *testing.T, db *dbtest.DB, sql string, end func(pgx.Tx) error) (first, second T, err error) {
	t.Helper()
	return secondWaitsFor[T, T](t, db, sql, sql, end)
}

// secondWaitsFor is secondWaits with two statements.
func secondWaitsFor[T, U any](t *testing.T, db *dbtest.DB, sql, waiting string, end func(pgx.Tx) error) (first T, second U, err error) {
	t.Helper()
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if err := tx.QueryRow(t.Context(), sql).Scan(&first); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- conn.QueryRow(t.Context(), waiting).Scan(&second) }()
	db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, conn.PgConn().PID())
	if err := end(tx); err != nil {
		t.Fatal(err)
	}
	return first, second, <-ended
}

func commit(tx pgx.Tx) error   { return tx.Commit(context.Background()) }
func rollback(tx pgx.Tx) error { return tx.Rollback(context.Background()) }

// E2: whoever comes second waits for the first, and gets its event if it commits, else one of its own.
// holds: E2
func TestASecondEmitWaitsForTheFirst(t *testing.T) {
	const emit = `select event_uid || ' ' || duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}')`
	for name, end := range map[string]func(pgx.Tx) error{"commit": commit, "rollback": rollback} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			first, second, err := secondWaits[string](t, db, emit, end)
			if err != nil {
				t.Fatal(err)
			}
			uid, _, _ := strings.Cut(first, " ")
			if duplicate := second == uid+" true"; duplicate != (name == "commit") {
				t.Errorf("the first got %q, the second %q", first, second)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.event_log`); n != 1 {
				t.Errorf("%d events, want 1", n)
			}
		})
	}
}

// L4: a replay that comes while another is under way waits for it, and does nothing if that one commits.
// holds: L4
func TestASecondReplayWaitsForTheFirst(t *testing.T) {
	for name, end := range map[string]func(pgx.Tx) error{"commit": commit, "rollback": rollback} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec(`select core.emit('shop', 'x')`)
			db.Exec(`select core_node.claim('core_events_shop', '{x}', '{0}', 1, '1 hour')`)
			db.Exec(`select core_private.bury('core_events_shop', 'n', '{1}', '{1}', '{bad}', '{bad}')`)
			// The copy is gone, so nothing but the ledger's row holds the second one up.
			db.Exec(`delete from pgmq.q_core_events_shop_dlq`)
			_, _, err := secondWaits[int64](t, db, `select core.replay_dead_letter(1)`, end)
			var pg *pgconn.PgError
			if refused := errors.As(err, &pg) && pg.Code == "NX205"; refused != (name == "commit") || (err != nil && !refused) {
				t.Errorf("the second: %v", err)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`); n != 1 {
				t.Errorf("%d messages, want 1", n)
			}
		})
	}
}

// NS1: twelve first users of a name.
// holds: NS1, others-first-use
func TestCreateNamespaceAtOnce(t *testing.T) {
	db := dbtest.New(t)
	noErrors(t, atOnce(t, db, 12, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		_, err := conn.Exec(ctx, `select core.create_namespace('shop')`)
		return err
	}))
}

// N1: twins that start at once get different names, or one of them is refused.
// holds: N1
func TestTwinsAtOnce(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	noErrors(t, atOnce(t, db, 6, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		_, err := conn.Exec(ctx, `select core_node.register_node('shop', 'host', false, '{}')`)
		return err
	}))
	if n := dbtest.Get[int](db, `select count(*)::int from core.nodes`); n != 6 {
		t.Errorf("%d nodes, want 6", n)
	}
	refused := 0
	for _, err := range atOnce(t, db, 6, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		_, err := conn.Exec(ctx, `select core_node.register_node('shop', 'given', true, '{}')`)
		return err
	}) {
		if err == nil {
			continue
		}
		refused++
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "NX204" {
			t.Errorf("a twin was refused by %v", err)
		}
	}
	if refused != 5 {
		t.Errorf("%d of 6 twins were refused, want 5", refused)
	}
}

// D1: an emitter that commits late lies below the floor; the sweep finds it.
// holds: D1-floor
func TestSweepFindsLateCommits(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	late, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), `select core.emit('shop', 'x', '"late"')`); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.emit('shop', 'x', '"early"')`)
	const claim = `select count(*)::int from core_node.claim('core_events_shop', '{x}', '{0}', 10, '1 hour', p_floor => 2, p_sweep => $1) where outcome = 'claimed'`
	if n := dbtest.Get[int](db, claim, false); n != 1 {
		t.Fatalf("claimed %d, want the one that has committed", n)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, claim, false); n != 0 {
		t.Errorf("a claim above the floor found %d", n)
	}
	if n := dbtest.Get[int](db, claim, true); n != 1 {
		t.Errorf("the sweep found %d, want the late one", n)
	}
}

// E5: emit notifies only while somebody waits.
// holds: E5, others-notify
func TestWakeOnlyWhoWaits(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "listen nexus_wake"); err != nil {
		t.Fatal(err)
	}
	emit := func() {
		db.Exec(`select core.emit('shop', 'x')`)
		db.Exec(`select core.emit_batch('shop', '{x}', '{1}')`)
	}
	emit() // nobody waits
	db.Exec(`select core_node.wait_for_wake('{core_events_shop}', '1 minute')`)
	emit()
	db.Advance(2 * time.Minute)
	emit() // whoever waited has given up
	db.Exec(`notify nexus_wake, 'end'`)
	var heard []string
	for len(heard) == 0 || heard[len(heard)-1] != "end" {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		n, err := conn.WaitForNotification(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, n.Payload)
	}
	if want := []string{"core_events_shop", "core_events_shop", "end"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

// P3: a queue that somebody has locked is reported without numbers and holds up nobody.
// holds: P3
func TestQueueMetricsDoNotWaitForALockedQueue(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("closed")
	db.Namespace("shop")
	db.Exec(`select core.emit('shop', 'x')`)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table pgmq.q_core_events_closed in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	rows, _ := db.Owner.Query(ctx, `select queue_name || ' ' || coalesce(queue_length::text, 'unknown')
		from core.queue_metrics where queue_name !~ '_dlq$' order by 1`)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"core_events_closed unknown", "core_events_shop 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// I4: one tick at a time; the second leaves at once instead of waiting.
// holds: I4, others-upkeep
func TestASecondTickLeaves(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`select core.tick()`) // what is overdue is run beside another
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `update core_private.sweeps set last_started_at = null; select core.tick()`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var skipped, ran bool
	if err := db.Pool.QueryRow(ctx, `select (core.tick() -> 'skipped') is not null`).Scan(&skipped); err != nil || !skipped {
		t.Errorf("a tick beside another: skipped %v, %v", skipped, err)
	}
	if err := rollback(tx); err != nil {
		t.Fatal(err)
	}
	if err := db.Pool.QueryRow(ctx, `select (core.tick() -> 'ran') is not null`).Scan(&ran); err != nil || !ran {
		t.Errorf("a tick after the other: ran %v, %v", ran, err)
	}
}

// parkingSessions are what goes on at once in the races of parking: each session does one thing over and over.
func parkingSessions(t *testing.T, db *dbtest.DB, rounds int, sessions ...string) {
	t.Helper()
	noErrors(t, atOnce(t, db, len(sessions), func(ctx context.Context, conn *pgx.Conn, i int) error {
		for range rounds {
			if _, err := conn.Exec(ctx, sessions[i], pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("%s: %w", sessions[i], err)
			}
		}
		return nil
	}))
}

// D7: while types gain and lose their nodes, and sweeps, claims, settlements and burials go on, each message is in one place, and
// none is handled and given up. An error, such as a deadlock, fails the test.
// holds: D7
func TestParkingRaces(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`select core.create_namespace('shop', '{"unhandled_after": "1 s"}')`)
	db.Exec(`create table public.handled (msg_id bigint, read_ct int)`)
	db.Exec(`select core_node.register_node('shop', 'x', true, '{x}')`)
	const events = 3000
	db.Exec(`select count(*) from core.emit_batch('shop', (select array_agg((array['x', 'y', 'z.1', 'z.2'])[1 + g % 4]) from generate_series(1, $1::int) g), array_fill('1'::jsonb, array[$1::int]))`, events)
	const work = `
		with c as materialized (select * from core_node.claim('core_events_shop', '{%[1]s}', '{%[4]s}', 20, '%[2]s', p_window => 200, p_sweep => random() < 0.3)),
		kept as (select msg_id, read_ct, last_read_at from c where outcome = 'claimed' and msg_id %% 7 <> 0),
		failed as (select msg_id, read_ct, last_read_at from c where outcome = 'claimed' and msg_id %% 7 = 0),
		s as materialized (select s.* from (select coalesce(array_agg(msg_id), '{}') as ids, coalesce(array_agg(read_ct), '{}') as cts, coalesce(array_agg(last_read_at), '{}') as ats from kept) k,
			(select coalesce(jsonb_agg(jsonb_build_object('id', msg_id, 'ct', read_ct, 'at', last_read_at, 'action', '%[3]s', 'after', '0 s', 'reason', 'r', 'error', 'e')), '[]') as failed from failed) f,
			core_node.settle('core_events_shop', 'n', k.ids, k.cts, k.ats, f.failed) s)
		insert into public.handled select msg_id, read_ct from kept where msg_id not in (select s.msg_id from s where s.outcome in ('lost', 'gone'))`
	const flicker = `select core_node.register_node('shop', '%[1]s', true, '{%[2]s}');
		select core_node.unpark('shop', 50);
		select core_node.heartbeat(node_id, incarnation, 'stopped') from core.nodes where node_id = '%[1]s'`
	parkingSessions(t, db, 60,
		`select core_private.park_unhandled(300, 40)`, `select core.tick()`, `select core_private.park_unhandled(1000, 10)`,
		fmt.Sprintf(work, "x", "30 s", "release", "0"), fmt.Sprintf(work, "y,z.*", "30 s", "release", "0,0"), fmt.Sprintf(work, "*", "5 ms", "reject", "-1"),
		fmt.Sprintf(flicker, "a", "y"), fmt.Sprintf(flicker, "b", "z.*"), fmt.Sprintf(flicker, "c", "*"))
	const where = `select count(*)::int from (
		select msg_id from pgmq.q_core_events_shop union all select msg_id from core.parked union all select msg_id from core.dead_letters
		union all select msg_id from public.handled) m`
	if all, distinct := dbtest.Get[int](db, where), dbtest.Get[int](db, strings.Replace(where, "count(*)", "count(distinct msg_id)", 1)); all != events || distinct != events {
		t.Errorf("%d places for %d of %d messages", all, distinct, events)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.sweep_status where last_error is not null`); n > 0 {
		t.Errorf("%d sweeps failed: %s", n, dbtest.Get[string](db, `select string_agg(name || ': ' || last_error, ', ') from core.sweep_status where last_error is not null`))
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where reason like 'No handler%' and event_type = 'x'`); n > 0 {
		t.Errorf("%d messages of a type with a live node were given up for want of one", n)
	}
}

// D7: whoever registers or asks again while a parking is under way waits for it and gets what it parked.
// holds: D7
func TestRegisteringWaitsForParking(t *testing.T) {
	for name, call := range map[string]string{
		"register": `select core_node.register_node('shop', 'b', true, '{y}')`,
		"unpark": `insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key)
			select n.node_id, n.incarnation, 'event_type', 'default', 'y' from core.nodes n; select core_node.unpark('shop')`,
	} {
		t.Run(name, func(t *testing.T) { waitsForParking(t, call) })
	}
}

func waitsForParking(t *testing.T, call string) {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core_node.register_node('shop', 'a', true, '{x}')`)
	db.Exec(`select core.emit('shop', 'y')`)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `select core_private.park_unhandled()`); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), call, pgx.QueryExecModeSimpleProtocol)
		ended <- err
	}()
	db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, conn.PgConn().PID())
	// A second sweep passes over the queue instead of waiting.
	if n := dbtest.Get[int](db, `select (core_private.park_unhandled() ->> 'parked')::int`); n != 0 {
		t.Errorf("a sweep beside another parked %d", n)
	}
	if err := commit(tx); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`); n != 1 {
		t.Errorf("%d messages came back, want the one that was parked meanwhile", n)
	}
}

// N1: a node that says what it handles from now on, while another process registers under its id, is superseded and changes nothing.
// holds: N1-changes
func TestChangesOfASupersededLife(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	life := dbtest.Get[string](db, `select incarnation::text from core_node.register_node('shop', 'n', true, '{a}')`)
	db.Advance(time.Hour) // its heartbeats are missed, and nobody has called it lost yet
	_, changed, err := secondWaitsFor[string, bool](t, db, `select incarnation::text from core_node.register_node('shop', 'n', true, '{b}')`,
		fmt.Sprintf(`select core_node.replace_capabilities('n', '%s', '{c}')`, life), commit)
	if err != nil || changed {
		t.Errorf("changed: %t, %v", changed, err)
	}
	if got := dbtest.Get[[]string](db, `select core_private.live_patterns('shop', 'default', core.now())`); !slices.Equal(got, []string{"b"}) {
		t.Errorf("handled is %q", got)
	}
}

// D7: parking passes over what a claim under way has locked, and what another has leased since it looked.
// holds: D7
func TestParkingLeavesWhatIsClaimed(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core_node.register_node('shop', 'a', true, '{x}')`)
	db.Exec(`select core.emit('shop', 'y') from generate_series(1, 2)`)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `update pgmq.q_core_events_shop set vt = vt + '1 hour', read_ct = read_ct + 1 where msg_id = 1`); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, `select (core_private.park_unhandled() ->> 'parked')::int`); n != 1 {
		t.Errorf("parked %d, want the one that nobody claims", n)
	}
	if err := commit(tx); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Get[int](db, `select (core_private.park_unhandled() ->> 'parked')::int`); n != 0 {
		t.Errorf("parked %d that are leased", n)
	}
}

// D7: a namespace is dropped beside parkings and registrations without a deadlock.
// holds: D7
func TestDropBesideParking(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`create function public.round(p_n int) returns void language plpgsql as $$
		begin perform core.create_namespace('shop'); perform core_node.register_node('shop', 'a', true, '{x}');
		perform core.emit('shop', 'y') from generate_series(1, 20);
		perform core.emit('shop', 'y', '1', '{"delay": "1 s"}') from generate_series(1, 20); update core.delayed set due_at = core.now(); end $$`)
	for i := range 15 {
		db.Exec(`select public.round($1)`, i)
		sessions := []string{
			`select core.drop_namespace('shop', 'shop', true)`, `select core_private.park_unhandled()`, `select core_node.promote_delayed()`,
			`select core_node.register_node('shop', 'b', true, '{y}')`,
		}
		noErrors(t, atOnce(t, db, len(sessions), func(ctx context.Context, conn *pgx.Conn, i int) error {
			_, err := conn.Exec(ctx, sessions[i])
			var pg *pgconn.PgError
			if errors.As(err, &pg) && i == 3 && pg.Code == "NX101" {
				return nil // the namespace is gone
			}
			return err
		}))
	}
}

// NS5: who fires a task holds its row and then emits; who drops the namespace comes behind, and neither waits for the other for ever.
func TestDropWaitsForFiring(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.schedule_task('shop', 'a', '@every 1s', 'x')`)
	_, _, err := secondWaitsFor[string, string](t, db, `select name from core.scheduled_tasks for update`, `select core.drop_namespace('shop', 'shop', true)::text`,
		func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `select core.emit('shop', 'x')`); err != nil {
				return err
			}
			return tx.Commit(t.Context())
		})
	if err != nil {
		t.Error(err)
	}
}

// NS5: who drops a namespace waits for a schedule under way, and sees its event; who schedules while it is dropped finds it gone.
// holds: NS5
func TestDropAgainstSchedule(t *testing.T) {
	const schedule = `select core.schedule_event('shop', 'x', '1', now() + interval '1 hour')::text`
	const drop = `select core.drop_namespace('shop', 'shop')::text`
	for name, c := range map[string]struct{ first, second, code string }{
		"drop waits for schedule": {schedule, drop, "NX203"},
		"schedule waits for drop": {drop, schedule, "NX101"},
		"drop waits for a delay":  {`select event_id::text from core.emit('shop', 'x', '1', '{"delay": "1 h"}')`, drop, "NX203"},
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			_, _, err := secondWaitsFor[string, string](t, db, c.first, c.second, commit)
			if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != c.code {
				t.Errorf("the second: %v, want %s", err, c.code)
			}
		})
	}
}

// Whoever waits for a lane while its queue is dropped is told that it is gone.
// holds: LN1 (a queue that is dropped)
func TestDropAgainstUseOfItsLanes(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	for _, waiting := range []string{
		`select core.lane_pause('shop', 'pay', 0, 'why')::text`,
		`select core.lane_resume('shop', 'pay', 0, 'why')::text`,
		`select core.lane_skip('shop', 'pay', 0, 'why')::text`,
		`select core.outbox_repartition('shop', 'pay', 2)::text`,
		`select core.outbox_enqueue('shop', 'pay', 'x', 't')::text`,
		`select core.outbox_drop_queue('shop', 'pay', true)::text`,
		`select token::text from core_node.fetch_lane((select max(lane_id) from core.lane_status where queue = 'pay'), 'n', 1, '1 min')`,
	} {
		db.Exec(`select core.outbox_register_queue('shop', 'pay', 1, '{"strict": true}')`)
		_, _, err := secondWaitsFor[string, string](t, db, `select core.outbox_drop_queue('shop', 'pay')::text`, waiting, commit)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "NX115" {
			t.Errorf("%s: %v, want NX115", waiting, err)
		}
	}
}

// O1: of two that schedule one id the second waits; it gets the same id if the first commits, and writes its own row if not.
// holds: O1, others-unique
func TestASecondScheduleWaitsForTheFirst(t *testing.T) {
	const schedule = `select core.schedule_event('shop', 'x', '1', '2040-01-01Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001"}')::text`
	for name, end := range map[string]func(pgx.Tx) error{"commit": commit, "rollback": rollback} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			first, second, err := secondWaits[string](t, db, schedule, end)
			if err != nil || first != second {
				t.Errorf("%q and %q, %v", first, second, err)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.scheduled_events`); n != 1 {
				t.Errorf("%d rows, want 1", n)
			}
		})
	}
}

// Whoever touches several messages locks them in one order, however they are named and wherever they lie: else a renewal and a settlement,
// say, deadlock. One that waits for the first holds none of the others.
// holds: D2-order, others-deadlocks
func TestMessagesAreLockedInOneOrder(t *testing.T) {
	const (
		n    = 40
		odd  = `(select %[1]s from (select * from pgmq.q_core_events_shop where msg_id %% 2 = 1) q)`
		even = `(select %[1]s from (select * from pgmq.q_core_events_shop where msg_id %% 2 = 0) q)`
		all  = `(select %[1]s from pgmq.q_core_events_shop q)`
	)
	// From the last to the first.
	of := func(rows string) string {
		var args []string
		for _, column := range []string{"msg_id", "read_ct", "last_read_at"} {
			args = append(args, fmt.Sprintf(rows, "array_agg("+column+" order by msg_id desc)"))
		}
		return strings.Join(args, ", ")
	}
	failed := func(rows string) string {
		return fmt.Sprintf(rows, "jsonb_agg(jsonb_build_object('id', q.msg_id, 'ct', q.read_ct, 'at', q.last_read_at, 'action', 'retry', 'after', '1 s', 'reason', 'x', 'error', 'x'))")
	}
	for name, call := range map[string]string{
		"extend":             `core_node.extend('core_events_shop', ` + of(all) + `, '1 hour')`,
		"settle":             `core_node.settle('core_events_shop', 'n', ` + of(all) + `)`,
		"settle failures":    `core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', ` + failed(all) + `)`,
		"settle, both":       `core_node.settle('core_events_shop', 'n', ` + of(even) + `, ` + failed(odd) + `)`,
		"settle_batch":       `core_node.settle_batch('core_events_shop', 'n', null, ` + of(all) + `)`,
		"settle_batch, both": `core_node.settle_batch('core_events_shop', 'n', null, ` + of(even) + `, ` + failed(odd) + `)`,
		"purge_queue":        `core.purge_queue('core_events_shop', 'core_events_shop')`,
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec(`select core.emit_batch('shop', array_fill('x'::text, array[$1::int]), array_fill('1'::jsonb, array[$1::int]))`, n)
			db.Exec(`select core_node.claim('core_events_shop', '{x}', '{0}', $1, '1 hour')`, n)
			// In the table they lie from the last to the first.
			for id := n; id > 0; id-- {
				db.Exec(`update pgmq.q_core_events_shop set vt = vt where msg_id = $1`, id)
			}
			db.Exec(`analyze pgmq.q_core_events_shop`)
			tx, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.Background()) }()
			if _, err := tx.Exec(t.Context(), `select from pgmq.q_core_events_shop where msg_id = 1 for update`); err != nil {
				t.Fatal(err)
			}
			conn, err := pgx.Connect(t.Context(), db.OwnerURL)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Exec(t.Context(), `select count(*) from `+call)
				ended <- err
			}()
			db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, conn.PgConn().PID())
			if _, err := tx.Exec(t.Context(), `select from pgmq.q_core_events_shop order by msg_id for update`); err != nil {
				t.Errorf("it waits for the first and holds others: %v", err)
			}
			if err := rollback(tx); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}
