package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

func emitTypes(t *testing.T, db *dbtest.DB, n int, types ...string) {
	t.Helper()
	var batch []queue.Emission
	for i := range n {
		batch = append(batch, queue.Emission{Type: types[i%len(types)], Payload: i})
	}
	if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
		t.Fatal(err)
	}
}

// A sweep passes over a queue on which another one, such as a node's own, is at work.
const (
	parkNow = `select core.run_sweep('park')`
	parking = parkNow + ` is not null and `
)

// An old version runs on beside a new one that knows one type more, and is then stopped: every event is handled once, at its first attempt.
// holds: D7, others-unknown
func TestRollingDeployLosesNothing(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	noted := func(ctx context.Context, d *nexus.Delivery) error {
		_, err := db.Pool.Exec(ctx, `insert into public.effect values ($1, $2, $3)`, d.UID, d.Attempt, d.Type)
		return err
	}
	old := node.New(db.Pool, node.Config{Namespace: ns, ID: "old"})
	old.OnLeased("a", noted)
	stopOld := start(t, old)
	db.Wait(`select exists (select from core.node_status where node_id = 'old' and state = 'active')`)
	emitTypes(t, db, 2400, "a", "new.type")
	db.Wait(parking + `(select count(*) = 1200 from core.parked where event_type = 'new.type')`)

	// More than registering brings back itself; the sweep is not run, so the rest is the node's doing.
	next := node.New(db.Pool, node.Config{Namespace: ns, ID: "new"})
	next.OnLeased("a", noted)
	next.OnLeased("new.*", noted)
	start(t, next)
	db.Wait(`select count(*) = 2400 from public.effect`)
	emitTypes(t, db, 400, "a", "new.type")
	db.Exec(parkNow)
	stopOld()
	emitTypes(t, db, 400, "a", "new.type")
	db.Exec(parkNow)
	db.Wait(queueEmpty)
	got := dbtest.Get[[]int](db, `select array[count(*), count(distinct event_uid), min(attempt), max(attempt)]::int[] from public.effect`)
	if got[0] != 3200 || got[1] != 3200 || got[2] != 1 || got[3] != 1 {
		t.Errorf("effects, distinct, least and highest attempt: %v", got)
	}
	if n := dbtest.Get[int](db, `select (select count(*) from core.parked)::int + (select count(*) from core.dead_letters)::int + (select count(*) from core.delivery_errors)::int`); n != 0 {
		t.Errorf("%d events parked, given up or noted as failed", n)
	}
}

// With all nodes gone the time stands still, whether somebody runs the sweep meanwhile or not.
// holds: D7-given-up
func TestOutageBuriesNothing(t *testing.T) {
	t.Parallel()
	for name, sweeps := range map[string]bool{"with pg_cron": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			db.Exec(`select core.alter_namespace('shop', '{"unhandled_after": "1 min"}')`)
			run := func() (stop func()) {
				n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n"})
				n.OnLeased("a", func(context.Context, *nexus.Delivery) error { return nil })
				stop = start(t, n)
				db.Wait(`select exists (select from core.node_status where node_id = 'n' and state = 'active')`)
				return stop
			}
			dead := func() int { t.Helper(); return dbtest.Get[int](db, `select count(*)::int from core.dead_letters`) }
			stop := run()
			emit(t, db, "unheard.of", 1)
			db.Wait(parking + `exists (select from core.parked)`)
			stop()
			for range 3 {
				db.Advance(time.Hour)
				if sweeps {
					db.Exec(`select core.tick()`)
				}
			}
			run()
			db.Exec(parkNow)
			if n := dead(); n != 0 {
				t.Fatalf("an outage of three hours buried %d", n)
			}
			// Still known to live: no more than three heartbeats of silence.
			db.Advance(61 * time.Second)
			db.Wait(parking + `exists (select from core.dead_letters)`)
			if got := dbtest.Get[string](db, `select reason || ', attempts ' || attempts from core.dead_letters`); got != "No handler for event unheard.of, attempts 0" {
				t.Errorf("dead letter: %s", got)
			}
		})
	}
}

// D8: with the clock moved to just before and just after the due time. Polls are an hour apart, so the node promotes and is woken.
// holds: D8
func TestDelayedEventsComeInTime(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Poll: time.Hour})
	handled := make(chan time.Time, 1)
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { handled <- db.Now(); return nil })
	start(t, n)
	db.Wait(wanted)
	due := db.Now().Add(2 * time.Second)
	opts := &queue.EmitOptions{DeliverAt: due}
	if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "x", 1, opts); err != nil {
		t.Fatal(err)
	}
	if at := <-handled; at.Before(due) {
		t.Errorf("handled %s before it was due", due.Sub(at))
	}
}

// Work does not register, so nobody would know that it handles what is parked.
// holds: work
func TestWorkBringsBackWhatIsParked(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`select core_node.register_node('shop', 'other', true, '{else}')`)
	emitTypes(t, db, 20, "mine", "foreign")
	db.Wait(parking + `(select count(*) = 20 from core.parked)`)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("mine", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	if got, err := n.Work(t.Context(), 100); err != nil || got != 10 {
		t.Errorf("%d handled, %v; want 10", got, err)
	}
	if got := dbtest.Get[string](db, `select string_agg(distinct event_type, ',') || count(*) from core.parked`); got != "foreign10" {
		t.Errorf("parked %s", got)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.nodes`); n != 1 {
		t.Error("Work left a node behind")
	}
}
