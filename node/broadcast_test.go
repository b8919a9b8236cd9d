package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// broadcastDB has a ledger that handlers of broadcasts write in their transactions.
func broadcastDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := newDB(t)
	db.Exec("select core.alter_namespace('shop', $1)", `{"default_consumer": "off", "retry": {"shape": "constant", "base": "10 ms", "jitter": 0}}`)
	db.Exec("create table public.got (node text not null, event_uid uuid not null, attempt int not null)")
	db.Exec("grant select, insert on public.got to " + dbtest.Login)
	return db
}

func note(ctx context.Context, tx pgx.Tx, id string, d *nexus.Delivery) error {
	_, err := tx.Exec(ctx, "insert into public.got values ($1, $2, $3)", id, d.UID, d.Attempt)
	return err
}

func broadcast(t *testing.T, db *dbtest.DB, eventType string, n int) {
	t.Helper()
	batch := make([]queue.Emission, n)
	for i := range batch {
		batch[i] = queue.Emission{Type: eventType, Payload: i, EmitOptions: queue.EmitOptions{Broadcast: true}}
	}
	if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
		t.Fatal(err)
	}
}

const (
	gotTwice   = `select count(*)::int from (select from public.got group by node, event_uid having count(*) > 1) s`
	gotMissing = `select count(*)::int from core.broadcasts b cross join unnest($1::text[]) n(node)
		where not exists (select from public.got g where g.node = n.node and g.event_uid = b.event_uid)`
	gotAll = `select not exists (select from core.broadcasts b cross join unnest($1::text[]) n(node)
		where not exists (select from public.got g where g.node = n.node and g.event_uid = b.event_uid))`
)

// Four nodes, whose handlers fail, panic, give back and emit themselves, get each broadcast once, by their own ledger.
// holds: broadcast
func TestEachNodeHandlesEachBroadcastOnce(t *testing.T) {
	t.Parallel()
	events := 250
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		events = 5000
	}
	db := broadcastDB(t)
	var nodes []string
	var failed atomic.Int32
	for i := range 4 {
		id := fmt.Sprint("n", i)
		nodes = append(nodes, id)
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: id, Retry: nexus.RetryPolicy{MaxAttempts: -1, Base: time.Millisecond, Max: time.Millisecond}})
		var calls atomic.Int32
		n.Broadcasts().On("a.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if !d.Broadcast || d.Consumer != "broadcast:"+id {
				t.Errorf("broadcast %v, consumer %q", d.Broadcast, d.Consumer)
			}
			if err := note(ctx, tx, id, d); err != nil {
				return err
			}
			switch calls.Add(1) % 40 {
			case 7:
				failed.Add(1)
				return errors.New("no")
			case 17:
				failed.Add(1)
				panic("no")
			case 27:
				failed.Add(1)
				return nexus.Release(time.Millisecond)
			case 37:
				if d.Type == "a.x" {
					_, err := queue.Emitter{Namespace: ns}.Emit(ctx, tx, "a.more", 1, &queue.EmitOptions{Broadcast: true})
					return err
				}
			}
			return nil
		})
		start(t, n)
	}
	db.Wait("select count(*) = 4 from core.broadcast_cursors")
	for range 5 {
		broadcast(t, db, "a.x", events/5)
	}
	db.Wait(gotAll, nodes)
	db.Wait("select bool_and(unread + retrying = 0) from core.broadcast_cursors")
	if n := dbtest.Get[int](db, gotTwice); n != 0 {
		t.Errorf("%d twice", n)
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.broadcasts where event_type = 'a.more'"); n == 0 || failed.Load() == 0 {
		t.Errorf("%d emitted by handlers, %d failures", n, failed.Load())
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// A node goes on where it was, with what was emitted while it was away; a new one begins at its registration. A wake-up comes at once.
// holds: broadcast (restart, new node, wake-up)
func TestANodeGoesOnAmongTheBroadcasts(t *testing.T) {
	t.Parallel()
	db := broadcastDB(t)
	run := func(id string) (stop func()) {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: id, Poll: time.Minute})
		node.OnT(n.Broadcasts(), nexus.EventType[int]("a"), func(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[int]) error {
			return note(ctx, tx, id, d.Delivery)
		})
		return start(t, n)
	}
	stop := run("old")
	db.Wait("select count(*) = 1 from core.broadcast_cursors where patterns = '{a}'")
	db.Wait("select exists (select from core_private.wake_flags where key = 'broadcasts:shop' and waiting_until > core.now())")
	broadcast(t, db, "a", 1)
	db.Wait("select count(*) = 1 from public.got") // only a wake-up brings it within a minute
	stop()
	broadcast(t, db, "a", 3)
	run("new")
	db.Wait("select count(*) = 2 from core.broadcast_cursors")
	broadcast(t, db, "a", 1)
	db.Wait("select count(*) = 1 from public.got where node = 'new'")
	run("old")
	db.Wait("select count(*) = 5 from public.got where node = 'old'")
	if got := dbtest.Get[string](db, "select string_agg(node || count, ' ' order by node) from (select node, count(*) from public.got group by 1) s"); got != "new1 old5" {
		t.Error(got)
	}
	if n := dbtest.Get[int](db, gotTwice); n != 0 {
		t.Errorf("%d twice", n)
	}
}

// A process that is killed with -9 in a handler, and after a commit, has lost and doubled nothing for its successor; an event that kills each process
// that takes it up is a dead letter of the node, and the others are not.
// holds: broadcast (kill -9), others-killers (broadcasts)
func TestKilledNodesKeepTheirBroadcasts(t *testing.T) {
	t.Parallel()
	db := broadcastDB(t)
	victim := spawn(t, db, "broadcast")
	db.Wait("select count(*) = 1 from core.broadcast_cursors")
	const events = 200
	broadcast(t, db, "x", events/2)
	for _, at := range []int{10, 50, 90} {
		db.Wait("select count(*) >= $1 from public.got", at)
		kill(victim)
		victim = spawn(t, db, "broadcast")
	}
	broadcast(t, db, "killer", 1)
	broadcast(t, db, "x", events/2)
	for range 3 {
		_ = victim.Wait()
		if code := victim.ProcessState.ExitCode(); code != 137 {
			t.Fatalf("the process ended with %d", code)
		}
		victim = spawn(t, db, "broadcast")
	}
	db.Wait("select count(*) = 1 from core.dead_letters where source_kind = 'broadcast' and consumer = 'broadcast:fixed' and reason = 'process died' and attempts = 3")
	db.Wait("select count(distinct event_uid) = $1 from public.got", events)
	if n := dbtest.Get[int](db, gotTwice); n != 0 {
		t.Errorf("%d twice", n)
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.dead_letters"); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}

// What a node gives up is a dead letter of that node; others have had the event, and a replay is for that node alone.
// holds: broadcast (dead letters)
func TestABroadcastIsGivenUpByOneNode(t *testing.T) {
	t.Parallel()
	db := broadcastDB(t)
	var mended atomic.Bool
	for _, id := range []string{"bad", "good"} {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: id, Retry: nexus.RetryPolicy{MaxAttempts: 2}})
		n.Broadcasts().On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if err := note(ctx, tx, id, d); err != nil {
				return err
			}
			if id == "bad" && d.Type == "a" && !mended.Load() {
				return errors.New("boom")
			}
			return nil
		}).Retry.Base = 5 * time.Millisecond
		start(t, n)
	}
	db.Wait("select count(*) = 2 from core.broadcast_cursors")
	broadcast(t, db, "a", 1)
	broadcast(t, db, "b", 1)
	db.Wait("select count(*) = 1 from core.dead_letters where consumer = 'broadcast:bad' and attempts = 2 and last_error like '%boom%' and resolved_at is null")
	db.Wait("select count(*) = 3 from public.got")
	if got := dbtest.Get[string](db, "select string_agg(attempt || action, ' ' order by error_id) from core.delivery_errors where node_id = 'bad'"); got != "1retry 2bury" {
		t.Errorf("history: %s", got)
	}
	mended.Store(true)
	res, err := deadletter.Replay(t.Context(), db.Owner, deadletter.Filter{Namespace: ns, Source: "broadcast"}, nil)
	if err != nil || res.Done != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	db.Wait("select count(*) = 4 from public.got")
	if n := dbtest.Get[int](db, gotTwice); n != 0 {
		t.Errorf("%d twice", n)
	}
}

// Leased handlers hold no transaction; an acknowledgement in one of their own commits with it.
// holds: broadcast (leased)
func TestLeasedHandlersOfBroadcasts(t *testing.T) {
	t.Parallel()
	db := broadcastDB(t)
	var plain, acked atomic.Int32
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "one", Lease: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.Broadcasts().OnLeased("plain", func(context.Context, *nexus.Delivery) error {
		if plain.Add(1) == 1 {
			return errors.New("once more")
		}
		return nil
	}).Retry.Base = time.Millisecond
	n.Broadcasts().OnLeased("acked", func(ctx context.Context, d *nexus.Delivery) error {
		acked.Add(1)
		return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			return errors.Join(note(ctx, tx, "one", d), queue.Ack(ctx, tx, d))
		})
	})
	n.Broadcasts().On("tx", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := queue.Ack(ctx, tx, d); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("an ack of the node's own: %v", err)
		}
		return note(ctx, tx, "one", d)
	})
	start(t, n)
	db.Wait("select count(*) = 1 from core.broadcast_cursors")
	for _, kind := range []string{"plain", "acked", "tx"} {
		broadcast(t, db, kind, 1)
	}
	db.Wait("select count(*) = 2 from public.got")
	eventually(t, "the failed one came again", 10*time.Second, func() bool { return plain.Load() == 2 })
	db.Wait("select bool_and(unread + retrying = 0 and in_hand is null) from core.broadcast_cursors")
	if plain.Load() != 2 || acked.Load() != 1 || strings.Contains(log.String(), "lease lost") {
		t.Errorf("plain %d, acked %d", plain.Load(), acked.Load())
	}
}

// A process that was frozen while another one took its id over finds its result refused.
// holds: broadcast (twins), others-lease (broadcasts)
func TestATwinIsRefusedItsBroadcast(t *testing.T) {
	t.Parallel()
	db := broadcastDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "one", Lease: time.Second})
	running, goOn := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	n.Broadcasts().On("a", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if calls.Add(1) == 1 {
			close(running)
			<-goOn
		}
		return note(ctx, tx, "one", d)
	})
	start(t, n)
	db.Wait("select count(*) = 1 from core.broadcast_cursors")
	broadcast(t, db, "a", 1)
	<-running
	db.Exec("update core_private.broadcast_cursors set holder = gen_random_uuid(), turn = turn + 1") // as a claim of the other one does
	close(goOn)
	db.Wait("select count(*) = 1 from public.got")
	if n := calls.Load(); n < 2 {
		t.Errorf("%d calls", n)
	}
	if n := dbtest.Get[int](db, gotTwice); n != 0 {
		t.Errorf("%d twice", n)
	}
}

// What broadcasts cannot do is refused by Run, by name.
func TestHandlersOfBroadcastsThatRunRefuses(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	tx := func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil }
	for name, c := range map[string]struct {
		register     func(n *node.Node)
		field, words string
	}{
		"batch": {func(n *node.Node) {
			node.OnBatchT(n.Broadcasts(), nexus.EventType[int]("a"), func(context.Context, pgx.Tx, []*nexus.DeliveryOf[int]) error { return nil })
		}, "Handler(a)", "OnBatch"},
		"express": {func(n *node.Node) { n.Broadcasts().On("a", tx).Express = true }, "Handler(a).Express", "Express"},
		"workers": {func(n *node.Node) { n.Broadcasts().On("a", tx).Workers = 2 }, "Handler(a).Workers", "Workers"},
		"no func": {func(n *node.Node) { n.Broadcasts().On("a", nil) }, "Handler(a)", "no function"},
		"two modes": {func(n *node.Node) {
			n.Broadcasts().On("a", tx)
			n.Broadcasts().OnLeased("*", func(context.Context, *nexus.Delivery) error { return nil })
		}, "Handler", "modes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := node.New(db.Pool, node.Config{Namespace: ns})
			c.register(n)
			err := n.Run(t.Context())
			e, _ := errors.AsType[*nexus.Error](err)
			if !errors.Is(err, nexus.ErrInvalid) || e.Field != c.field || !strings.Contains(err.Error(), c.words) {
				t.Errorf("Run: %v", err)
			}
		})
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "one"})
	h := n.Broadcasts().On("a", tx)
	start(t, n)
	db.Wait("select count(*) = 1 from core.broadcast_cursors")
	n.Broadcasts().On("b", tx)
	if err := n.Apply(t.Context()); !errors.Is(err, nexus.ErrInvalid) || !strings.Contains(err.Error(), "broadcasts") {
		t.Errorf("Apply with another one: %v", err)
	}
	h.Remove()
	if err := n.Apply(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("Apply without one: %v", err)
	}
}
