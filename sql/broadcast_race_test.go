package nexussql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// reader is a node as far as broadcasts go: it claims on one connection, and notes each event in a ledger in the transaction that moves its cursor.
type reader struct {
	id     string
	url    string
	rand   *rand.Rand
	holder uuid.UUID
	inc    string
	conn   *pgx.Conn
}

func (r *reader) connect(ctx context.Context) (err error) {
	r.holder = uuid.New()
	r.conn, err = pgx.Connect(ctx, r.url)
	return err
}

func (r *reader) register(ctx context.Context) error {
	return r.conn.QueryRow(ctx, `select incarnation::text from core_node.register_node('shop', $1, true, '{}', '{"broadcasts": ["a.*"]}')`, r.id).Scan(&r.inc)
}

// step handles one event, if there is one, or dies at it.
func (r *reader) step(ctx context.Context) (found bool, err error) {
	var id, turn int64
	err = r.conn.QueryRow(ctx, `select broadcast_id, turn from core_node.claim_broadcast($1, $2::text::uuid, $3, '{a.*}', '{-1}') where outcome = 'claimed'`, r.id, r.inc, r.holder).Scan(&id, &turn)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	die := r.rand.Intn(20)
	if die == 0 {
		return true, r.die(ctx)
	}
	tx, err := r.conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, "insert into public.ledger values ($1, $2)", r.id, id); err != nil {
		return false, err
	}
	switch r.rand.Intn(10) {
	case 0: // a failure
		if err := tx.Rollback(ctx); err != nil {
			return false, err
		}
		_, err = r.conn.Exec(ctx, `select core_node.settle_broadcast($1, $2, $3, '{"action": "retry", "after": "5 ms", "error": "no"}')`, r.id, r.holder, turn)
		return true, err
	case 1: // handlers emit, too
		if _, err := tx.Exec(ctx, `select core.emit('shop', 'a.more', '1', '{"broadcast": true}') where (select count(*) from core.broadcasts where event_type = 'a.more') < 60`); err != nil {
			return false, err
		}
	}
	if _, err := tx.Exec(ctx, "select core_node.ack_broadcast($1, $2, $3)", r.id, r.holder, turn); err != nil {
		return false, err
	}
	if die == 1 { // before the commit
		return true, r.die(ctx)
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	if die == 2 { // after it
		return true, r.die(ctx)
	}
	return true, nil
}

func (r *reader) die(ctx context.Context) error {
	if err := r.conn.Close(ctx); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	if r.rand.Intn(2) == 0 {
		return nil
	}
	if _, err := r.conn.Exec(ctx, "select core_node.heartbeat($1, $2::text::uuid, 'stopped')", r.id, r.inc); err != nil {
		return err
	}
	return r.register(ctx)
}

// emitBroadcasts emits in transactions of all kinds, some of which end badly.
func emitBroadcasts(ctx context.Context, url string, seed int64, transactions int) error {
	r := rand.New(rand.NewSource(seed))
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	emit := func(tx pgx.Tx, kind string) error {
		_, err := tx.Exec(ctx, `select core.emit('shop', $1, '1', '{"broadcast": true}')`, kind)
		if r.Intn(5) == 0 && err == nil {
			_, err = tx.Exec(ctx, `select core.emit_batch('shop', array[$1, 'c', $1], array['1', '2', '3']::jsonb[], array['{"broadcast": true}', '{"broadcast": true}', '{"broadcast": true}']::jsonb[])`, kind)
		}
		return err
	}
	for i := range transactions {
		opts := pgx.TxOptions{}
		if r.Intn(2) == 0 {
			opts.IsoLevel = pgx.RepeatableRead
		}
		tx, err := conn.BeginTx(ctx, opts)
		if err != nil {
			return err
		}
		if r.Intn(4) == 0 { // a snapshot, and no id yet
			if _, err := tx.Exec(ctx, "select count(*) from core.namespaces"); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "select pg_sleep($1::float8 / 1000)", r.Intn(5)); err != nil {
				return err
			}
		}
		if err := emit(tx, "a.x"); err != nil {
			return err
		}
		if r.Intn(3) == 0 {
			sub, err := tx.Begin(ctx)
			if err != nil {
				return err
			}
			kind := "a.sub"
			undone := r.Intn(2) == 0
			if undone {
				kind = "a.undone"
			}
			if err := emit(sub, kind); err != nil {
				return err
			}
			if undone {
				err = sub.Rollback(ctx)
			} else {
				err = sub.Commit(ctx)
			}
			if err != nil {
				return err
			}
		}
		held := r.Intn(3)
		if i%12 == 11 {
			held = 300
		}
		if _, err := tx.Exec(ctx, "select pg_sleep($1::float8 / 1000)", held); err != nil {
			return err
		}
		if r.Intn(5) == 0 {
			err = tx.Rollback(ctx)
		} else {
			err = tx.Commit(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Each node handles each broadcast once, by its own ledger, whatever transactions they are emitted in, however often it fails and dies at
// them, and whoever holds a transaction open.
// holds: broadcast
func TestEachNodeGetsEachBroadcastOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.alter_namespace('shop', $1)", `{"default_consumer": "off", "retry": {"shape": "constant", "base": "0 s"}}`)
	db.Exec("create table public.ledger (node text, broadcast_id bigint)")
	_, url := db.As("nexus_consumer", "nexus_producer", "nexus_reader")
	db.Exec("grant insert, select on public.ledger to public")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	// Somebody holds a transaction with an id from before the first event until the last has come, and emits in it at the end.
	holder := open(t, db)
	does(t, holder, "begin")
	does(t, holder, `select core.emit('shop', 'a.held', '1', '{"broadcast": true}')`)

	var done atomic.Bool
	var reading, emitting sync.WaitGroup
	failed := make(chan error, 20)
	start := func(i int) {
		r := &reader{id: fmt.Sprint("n", i), url: url, rand: rand.New(rand.NewSource(int64(i)))}
		if err := r.connect(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.register(ctx); err != nil {
			t.Fatal(err)
		}
		reading.Go(func() {
			defer func() { _ = r.conn.Close(context.Background()) }()
			for ctx.Err() == nil {
				found, err := r.step(ctx)
				if err != nil {
					failed <- fmt.Errorf("node %s: %w", r.id, err)
					cancel()
					return
				}
				if !found && done.Load() { // until all have read all: others' handlers emit, too
					var left int
					if err := r.conn.QueryRow(ctx, "select sum(unread + retrying)::int from core.broadcast_cursors").Scan(&left); err != nil || left == 0 {
						return
					}
				}
				if !found {
					_, _ = r.conn.Exec(ctx, "select pg_sleep(0.001)")
				}
			}
		})
	}
	for i := range 4 {
		start(i)
	}
	for i := range 6 {
		emitting.Go(func() {
			if err := emitBroadcasts(ctx, url, int64(100+i), 25); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	db.Wait("select count(*) > 40 from public.ledger")
	start(4) // one that comes late
	joined := dbtest.Get[int64](db, "select max(broadcast_id) from core.broadcasts")
	emitting.Wait()
	does(t, holder, `select core.emit('shop', 'a.held', '2', '{"broadcast": true}')`)
	does(t, holder, "commit")
	done.Store(true)
	reading.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	if n := dbtest.Get[int](db, "select count(*) from core.broadcasts where event_type like 'a.%'"); n < 150 {
		t.Fatalf("only %d events", n)
	}
	for what, sql := range map[string]string{
		"twice":                         "select count(*) from (select from public.ledger group by node, broadcast_id having count(*) > 1) s",
		"missing":                       "select count(*) from core.broadcasts b, generate_series(0, 3) n where b.event_type like 'a.%' and not exists (select from public.ledger l where l.node = 'n' || n and l.broadcast_id = b.broadcast_id)",
		"of a rollback or another type": "select count(*) from public.ledger l where not exists (select from core.broadcasts b where b.broadcast_id = l.broadcast_id and b.event_type like 'a.%' and b.event_type <> 'a.undone')",
		"missing at the late one":       fmt.Sprintf("select count(*) from core.broadcasts b where b.event_type like 'a.%%' and b.broadcast_id > %d and not exists (select from public.ledger l where l.node = 'n4' and l.broadcast_id = b.broadcast_id)", joined),
		"held, missing":                 "select 10 - count(*) from public.ledger l join core.broadcasts b using (broadcast_id) where b.event_type = 'a.held'",
		"dead":                          "select count(*) from core.dead_letters",
	} {
		if n := dbtest.Get[int](db, sql); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

// An id that was read is not read again while somebody holds an older transaction open: what a look reads does not grow with what came since.
// holds: broadcast (a held transaction costs nothing), others-held (broadcasts)
func TestAHeldTransactionDoesNotSlowBroadcasts(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.alter_namespace('shop', '{\"default_consumer\": \"off\"}')")
	ctx := t.Context()
	_, url := db.As("nexus_consumer")
	r := &reader{id: "n", url: url}
	if err := errors.Join(r.connect(ctx), r.register(ctx)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.conn.Close(context.Background()) }()
	holder := open(t, db)
	does(t, holder, "begin")
	does(t, holder, `select core.emit('shop', 'a.held', '1', '{"broadcast": true}')`)
	look := `select count(*) from core_node.claim_broadcast('n', $1::text::uuid, $2, '{b}', '{0}')`
	emit := func(n int) {
		db.Exec("select core.emit_batch('shop', array_fill('a'::text, array[$1::int]), array_fill('1'::jsonb, array[$1::int]), array_fill('{\"broadcast\": true}'::jsonb, array[$1::int]))", n)
		var found int
		if err := r.conn.QueryRow(ctx, look, r.inc, r.holder).Scan(&found); err != nil || found != 0 { // goes past them
			t.Fatal(found, err)
		}
	}
	emit(10)
	reads := func() (least int) { // of several looks: one of them may read the catalog anew, after autovacuum was at a table
		least = math.MaxInt
		for range 5 {
			var raw []byte
			if err := r.conn.QueryRow(ctx, "explain (analyze, buffers, format json) "+look, r.inc, r.holder).Scan(&raw); err != nil {
				t.Fatal(err)
			}
			var plan []struct{ Plan planNode }
			if err := json.Unmarshal(raw, &plan); err != nil {
				t.Fatal(err)
			}
			least = min(least, plan[0].Plan.Hit+plan[0].Plan.Read)
		}
		return least
	}
	few := reads()
	for range 5 {
		emit(2000)
	}
	if many := reads(); many > 2*few+20 {
		t.Errorf("a look reads %d pages after 10,000 broadcasts, %d before", many, few)
	}
}

// A claim that waits for another one of its node goes by what is so when its turn comes: where the other has read further it does not take its
// place for one of another server, and where the node has registered anew meanwhile it gets nothing.
// holds: broadcast (fence)
func TestABroadcastClaimLooksAnewAfterItsWait(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	register := `select incarnation::text from core_node.register_node('shop', 'n', true, '{}', '{"broadcasts": ["a"]}')`
	inc := dbtest.Get[string](db, register)
	claim := func(holder int) string {
		return fmt.Sprintf(`select count(*)::text from core_node.claim_broadcast('n', '%s', rpad('%d', 32, '0')::uuid, '{a}', '{0}')`, inc, holder)
	}
	lock := `select node_id from core_private.broadcast_cursors where node_id = 'n' for update`
	_, found, err := secondWaitsFor[string, string](t, db, lock, claim(2), func(tx pgx.Tx) error {
		db.Exec("select pg_current_xact_id()") // the other one sees more
		if _, err := tx.Exec(t.Context(), claim(1)); err != nil {
			return err
		}
		return commit(tx)
	})
	if err != nil || found != "0" || dbtest.Get[bool](db, "select reset_at is not null from core_private.broadcast_cursors") {
		t.Errorf("found %s, set anew: %s (%v)", found, dbtest.Get[string](db, "select coalesce(reset_reason, 'no') from core_private.broadcast_cursors"), err)
	}

	db.Exec(`select core.emit('shop', 'a', '1', '{"broadcast": true}')`)
	db.Exec("update core.nodes set state = 'stopped'")
	_, found, err = secondWaitsFor[string, string](t, db, register, claim(3), commit)
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "NX302" {
		t.Errorf("a life that is over claims %s (%v), want NX302", found, err)
	}
}

// An expiry takes nothing that a claim under way may be given, waits for none, and so no broadcast is counted as missed that is handled, or twice.
// holds: broadcast (age, in hand)
func TestAnExpiryLeavesWhatIsJustClaimed(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.SetNow(db.Now())
	inc := dbtest.Get[string](db, `select incarnation::text from core_node.register_node('shop', 'n', true, '{}', '{"broadcasts": ["a"]}')`)
	db.Exec(`select core_node.register_node('shop', 'idle', true, '{}', '{"broadcasts": ["a"]}')`)
	for range 2 {
		db.Exec(`select core.emit('shop', 'a', '1', '{"broadcast": true}')`)
	}
	db.Advance(25 * time.Hour)
	claiming, expiring := open(t, db), open(t, db)
	does(t, expiring, "set statement_timeout = '20s'")
	expired := func(want string) {
		t.Helper()
		var got string
		if err := expiring.QueryRow(t.Context(), `select core_private.expire_broadcasts()::text`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got += " " + dbtest.Get[string](db, `select string_agg(node_id || ' ' || missed, ', ' order by node_id) from core.broadcast_cursors`); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	does(t, claiming, "begin")
	does(t, claiming, fmt.Sprintf(`select core_node.claim_broadcast('n', '%s', rpad('1', 32, '0')::uuid, '{a}', '{0}')`, inc))
	expired(`{"buried": 0, "missed": 0, "removed": 0} idle 0, n 0`)
	does(t, claiming, "commit")
	expired(`{"buried": 0, "missed": 2, "removed": 1} idle 1, n 1`) // that which is not in hand
	does(t, claiming, `select core_node.settle_broadcast('n', rpad('1', 32, '0')::uuid, 1, '{}')`)
	expired(`{"buried": 0, "missed": 1, "removed": 1} idle 2, n 1`)
}

// Who gives a broadcast up has the namespace before the cursor, as who drops the namespace has: neither waits for the other for ever.
// holds: NS5, broadcast (fence)
func TestDropAgainstTheEndOfABroadcast(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"a settlement": `select outcome from core_node.settle_broadcast('n', rpad('1', 32, '0')::uuid, 1, '{"action": "reject"}')`,
		"a successor":  `select outcome from core_node.claim_broadcast('n', (select incarnation from core.nodes), rpad('2', 32, '0')::uuid, '{a}', '{1}')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec(`select core_node.register_node('shop', 'n', true, '{}', '{"broadcasts": ["a"]}')`)
			db.Exec(`select core.emit('shop', 'a', '1', '{"broadcast": true}')`)
			db.Exec(`select core_node.claim_broadcast('n', (select incarnation from core.nodes), rpad('1', 32, '0')::uuid, '{a}', '{1}')`)
			held, dropping := open(t, db), open(t, db)
			dropped := make(chan error, 1)
			_, outcome, err := secondWaitsFor[string, string](t, db, `select node_id from core_private.broadcast_cursors for update`, call, func(tx pgx.Tx) error {
				go func() { dropped <- dropping.Exec(t.Context(), `select core.drop_namespace('shop', 'shop', true)`) }()
				db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, dropping.PgConn().PID())
				return commit(tx)
			})
			if err != nil || outcome != "buried" {
				t.Errorf("%s, %v", outcome, err)
			}
			if err := <-dropped; err != nil {
				t.Errorf("the drop: %v", err)
			}
			does(t, held, `select core.create_namespace('shop')`)
		})
	}
}

// A broadcast that is being emitted is waited for, and asked about; one that comes while its namespace is dropped finds it gone.
// holds: NS5, broadcast (stored once)
func TestDropAgainstABroadcast(t *testing.T) {
	t.Parallel()
	const drop = `select core.drop_namespace('shop', 'shop')::text`
	for name, emit := range map[string]string{
		"emit":       `select event_uid::text from core.emit('shop', 'a', '1', '{"broadcast": true}')`,
		"emit_batch": `select event_uid::text from core.emit_batch('shop', '{a}', '{1}', array['{"broadcast": true}']::jsonb[])`,
	} {
		for _, c := range []struct{ first, second, code string }{{emit, drop, "NX203"}, {drop, emit, "NX101"}} {
			t.Run(name+" "+c.code, func(t *testing.T) {
				t.Parallel()
				db := dbtest.New(t)
				db.Exec(`select core.create_namespace('shop', '{"default_consumer": "off"}')`)
				db.Exec(`select core_node.register_node('shop', 'n', true, '{}', '{"broadcasts": ["a"]}')`)
				_, _, err := secondWaitsFor[string, string](t, db, c.first, c.second, commit)
				if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != c.code {
					t.Errorf("the second: %v, want %s", err, c.code)
				}
			})
		}
	}
}

// Nodes that settle and die, an upkeep that expires, emitters, and somebody who drops the namespace again and again: nobody ends in a deadlock.
// holds: NS5, broadcast
func TestDropBesideBroadcasts(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Exec(`create function public.round() returns void language plpgsql as $$
		begin perform core.create_namespace('shop', '{"default_consumer": "off", "keep_broadcasts": "1 min"}');
		perform core_node.register_node('shop', 'n' || i, true, '{}', '{"broadcasts": ["a"]}') from generate_series(1, 2) i;
		perform core.emit('shop', 'a', '1', '{"broadcast": true}') from generate_series(1, 10); end $$`)
	db.Exec(`create function public.old() returns void language sql as $$ update core.broadcasts set emitted_at = emitted_at - interval '1 hour' where broadcast_id % 2 = 0;
		select core_node.claim_broadcast(n.node_id, n.incarnation, rpad('1', 32, '0')::uuid, '{a}', '{1}') from core.nodes n $$`)
	for range 20 {
		db.Exec(`select public.round()`)
		db.Exec(`select public.old()`)
		sessions := []string{
			`select core.drop_namespace('shop', 'shop', true)`, `select core_private.expire_broadcasts()`,
			`select core_node.settle_broadcast('n1', rpad('1', 32, '0')::uuid, 1, '{"action": "reject"}')`,
			`select core_node.claim_broadcast('n2', (select incarnation from core.nodes where node_id = 'n2'), rpad('2', 32, '0')::uuid, '{a}', '{1}')`,
			`select core.emit('shop', 'a', '1', '{"broadcast": true}')`, `select core_private.expire_broadcasts()`,
		}
		noErrors(t, atOnce(t, db, len(sessions), func(ctx context.Context, conn *pgx.Conn, i int) error {
			_, err := conn.Exec(ctx, sessions[i])
			if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "NX101" || pg.Code == "NX104" || pg.Code == "NX302") {
				return nil // the namespace is gone
			}
			return err
		}))
		if n := dbtest.Get[int](db, `select count(*)::int from core.broadcasts`); n != 0 {
			t.Errorf("%d broadcasts of no namespace", n)
		}
	}
}
