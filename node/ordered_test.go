package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
)

// orderedEffects makes the table in which handlers note what they did.
func orderedEffects(db *dbtest.DB) {
	db.Exec(`create table public.ordered_effect (n bigint generated always as identity, consumer text, key text, i int, attempt int)`)
	db.Exec(`grant all on public.ordered_effect to public`)
}

const noteEffect = `insert into public.ordered_effect (consumer, key, i, attempt) values ($1, $2, $3, $4)`

func noteIn(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
	_, err := tx.Exec(ctx, noteEffect, d.Consumer, d.OrderingKey, string(d.Payload), d.Attempt)
	return err
}

func emitKeyed(t *testing.T, q nexus.DBTX, key string, i int) {
	t.Helper()
	if _, err := (queue.Emitter{Namespace: "shop"}).Emit(t.Context(), q, "a.b", i, &queue.EmitOptions{OrderingKey: key}); err != nil {
		t.Fatal(err)
	}
}

// seen are the numbers of a key that a consumer handled, in order.
func seen(db *dbtest.DB, consumer, key string) []int32 {
	return dbtest.Get[[]int32](db, `select coalesce(array_agg(i order by n), '{}') from public.ordered_effect where consumer = $1 and key = $2`, consumer, key)
}

// holds: ordered
// Events of a key are handled in their order in every mode, by one node or two, whatever fails on the way; keys don't wait for one another.
func TestOrderedConsumers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	orderedEffects(db)
	var failed atomic.Int32
	handled := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if string(d.Payload) == "3" && d.OrderingKey == "k1" && d.Attempt < 3 {
			failed.Add(1)
			return errors.New("not yet")
		}
		return noteIn(ctx, tx, d)
	}
	for range 2 {
		n := node.New(db.Pool, node.Config{Namespace: "shop", Poll: 20 * time.Millisecond})
		for _, name := range []string{"plain", "leased", "batched"} {
			c := n.Subscribe(name, "a.*")
			c.Lanes, c.Retry = 4, nexus.RetryPolicy{Base: time.Millisecond, Max: 2 * time.Millisecond}
			switch name {
			case "plain":
				c.On("a.*", handled)
			case "leased":
				c.OnLeased("a.*", func(ctx context.Context, d *nexus.Delivery) error {
					return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
						if err := handled(ctx, tx, d); err != nil {
							return err
						}
						return queue.Ack(ctx, tx, d)
					})
				})
			default:
				c.OnBatch("a.*", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
					for _, d := range batch {
						if err := handled(ctx, tx, d); err != nil {
							return err
						}
					}
					return nil
				})
			}
		}
		start(t, n)
	}
	db.Wait(`select count(*) = 3 from core.consumers where kind = 'ordered'`)
	var want []int32
	for i := range 12 {
		want = append(want, int32(i))
		for k := range 6 {
			emitKeyed(t, db.Owner, fmt.Sprintf("k%d", k), i)
		}
	}
	db.Wait(`select count(*) >= 216 from public.ordered_effect`)
	for _, consumer := range []string{"plain", "leased", "batched"} {
		for k := range 6 {
			if diff := cmp.Diff(want, seen(db, consumer, fmt.Sprintf("k%d", k))); diff != "" {
				t.Errorf("%s, key %d (-want +got):\n%s", consumer, k, diff)
			}
		}
	}
	if n := failed.Load(); n < 6 {
		t.Errorf("%d failures, too few to be a test", n)
	}
	if got := dbtest.Get[string](db, `select string_agg(distinct format('%s %s %s', action, attempt, error), ', ') from core.delivery_errors where consumer = 'plain'`); got != "retry 1 not yet, retry 2 not yet" {
		t.Errorf("history: %s", got)
	}
	if left := dbtest.Get[string](db, `select coalesce(string_agg(format('%s/%s: %s %s', queue, lane, lag, why), '; '), '') from core.lane_status where lag > 0 or why is not null`); left != "" {
		t.Errorf("left: %s", left)
	}
	if state := dbtest.Get[string](db, `select string_agg(distinct s.state, ',') from core.event_log e cross join core.event_status(e.event_id) s where s.consumer <> 'default'`); state != "settled" {
		t.Errorf("states: %s", state)
	}
}

// holds: ordered (verdicts)
// What is rejected is a dead letter with all that belongs to the event, and its lane goes on; replayed, it comes at the end of its lane. A
// consumer that halts stands still instead, until somebody lets it go on; one that is paused gives nothing out.
// holds: others-poison
func TestOrderedVerdicts(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	orderedEffects(db)
	var mended atomic.Bool
	told := make(chan node.Outcome, 100)
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: "shop", Poll: 20 * time.Millisecond, Registerer: reg, OnSettled: func(_ context.Context, s node.Settled) {
		if s.Delivery.Consumer == "halts" && s.Outcome != node.Done {
			told <- s.Outcome
		}
	}})
	for _, name := range []string{"rejects", "halts"} {
		c := n.Subscribe(name, "a.*")
		c.Lanes, c.Halt = 2, name == "halts"
		c.Retry = nexus.RetryPolicy{MaxAttempts: 2, Base: time.Millisecond, Max: time.Millisecond}
		c.On("a.b", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if err := noteIn(ctx, tx, d); err != nil || string(d.Payload) != "2" || mended.Load() {
				return err
			}
			if name == "rejects" {
				return nexus.Reject("no good")
			}
			return errors.New("cannot")
		})
	}
	start(t, n)
	db.Wait(`select count(*) = 2 from core.consumers where kind = 'ordered'`)
	for i := range 4 {
		emitKeyed(t, db.Owner, "one", i)
	}
	db.Wait(`select count(*) = 3 from public.ordered_effect where consumer = 'rejects'`)
	const letter = `select format('%s %s %s %s %s %s %s', event_type, payload, reason, attempts, ordering_key, lane_seq, envelope ->> 'eventUid' = event_uid::text)
		from core.dead_letters where consumer = 'rejects'`
	if got := dbtest.Get[string](db, letter); got != "a.b 2 no good 1 one 3 t" {
		t.Error(got)
	}
	db.Wait(`select state = 'halted' and seq = 2 and why = 'halted at message 3' and last_error = 'cannot' from core.lane_status where queue = 'halts' and lag > 0`)
	if diff := cmp.Diff([]int32{0, 1}, seen(db, "halts", "one")); diff != "" {
		t.Error(diff)
	}
	if got := dbtest.Get[string](db, `select string_agg(s.consumer || ' ' || s.state, ', ' order by s.consumer) from core.event_status((select event_id from core.event_log where payload = '2')) s where s.consumer <> 'default'`); got != "halts waiting, rejects dead" {
		t.Error(got)
	}
	if got := []node.Outcome{<-told, <-told}; !cmp.Equal(got, []node.Outcome{node.Retried, node.Halted}) {
		t.Error(got)
	}
	if got := dbtest.Get[string](db, `select string_agg(format('%s %s', action, due_at is not null), ', ' order by attempt) from core.delivery_errors where consumer = 'halts'`); got != "retry t, halt f" {
		t.Error(got)
	}
	eventually(t, "both are counted", time.Minute, func() bool {
		counts := scrape(t, reg)
		return counts["events_retried_total halts a.b shop"] == 1 && counts["events_halted_total halts a.b shop"] == 1
	})
	mended.Store(true)
	lane := dbtest.Get[int](db, `select lane from core.lane_status where queue = 'halts' and state = 'halted'`)
	if on, err := outbox.Resume(t.Context(), db.Owner, "shop", "halts", lane, "mended"); !on || err != nil {
		t.Fatal(on, err)
	}
	db.Exec(`select core.replay_dead_letter(dead_letter_id) from core.dead_letters where consumer = 'rejects'`)
	db.Wait(`select count(*) = 8 from public.ordered_effect`)
	if got := [][]int32{seen(db, "rejects", "one"), seen(db, "halts", "one")}; !cmp.Equal(got, [][]int32{{0, 1, 3, 2}, {0, 1, 2, 3}}) {
		t.Error(got)
	}
	if paused, err := queue.PauseConsumer(t.Context(), db.Owner, "shop", "halts"); !paused || err != nil {
		t.Fatal(paused, err)
	}
	emitKeyed(t, db.Owner, "one", 9)
	db.Wait(`select count(*) = 9 from public.ordered_effect`)
	if why := dbtest.Get[string](db, `select why from core.lane_status where lag > 0`); why != "the consumer is paused" {
		t.Error(why)
	}
	if err := queue.DropConsumer(t.Context(), db.Owner, "shop", "halts", false); !errors.Is(err, nexus.ErrConflict) {
		t.Error(err)
	}
	if err := queue.DropConsumer(t.Context(), db.Owner, "shop", "halts", true); err != nil {
		t.Error(err)
	}
}

// holds: ordered (refusals)
// What has no place in an order is refused by name: on creation, on a change, by an emit that comes later, and for handlers in SQL.
func TestWhatIsNotOrdered(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for field, opts := range map[string]queue.ConsumerOptions{
		"rate": {Lanes: 2, Rate: "1/s"}, "max_in_flight": {Lanes: 2, MaxInFlight: 1}, "levels": {Lanes: 2, Levels: 2}, "unhandled_after": {Lanes: 2, UnhandledAfter: time.Hour},
	} {
		err := queue.CreateConsumer(t.Context(), db.Owner, "shop", "one", []string{"a.*"}, &opts)
		wantOrdered(t, field, err)
	}
	if err := queue.CreateConsumer(t.Context(), db.Owner, "shop", "one", []string{"a.*"}, &queue.ConsumerOptions{Lanes: 2}); err != nil {
		t.Fatal(err)
	}
	err := queue.CreateConsumer(t.Context(), db.Owner, "shop", "one", []string{"a.*"}, &queue.ConsumerOptions{Lanes: 3})
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeConsumerDiffers || !strings.Contains(e.Message, "lanes is 2, given 3") {
		t.Error(err)
	}
	_, err = queue.AlterConsumer(t.Context(), db.Owner, "shop", "one", queue.ConsumerChange{BackfillBeginning: true})
	wantOrdered(t, "backfill", err)
	_, err = queue.Emitter{Namespace: "shop"}.Emit(t.Context(), db.Owner, "a.b", 1, &queue.EmitOptions{Delay: time.Minute})
	wantOrdered(t, "deliver_at", err)
	_, err = queue.Emitter{Namespace: "shop"}.EmitBatch(t.Context(), db.Owner, []queue.Emission{{Type: "a.b", Payload: 1, EmitOptions: queue.EmitOptions{Delay: time.Minute}}})
	wantOrdered(t, "deliver_at", err)
	if _, err = (queue.Emitter{Namespace: "shop"}).EmitBatch(t.Context(), db.Owner, []queue.Emission{{Type: "b.b", Payload: 1, EmitOptions: queue.EmitOptions{Delay: time.Minute}}, {Type: "a.b", Payload: 1}}); err != nil {
		t.Error(err)
	}
	if _, err = outbox.Enqueue(t.Context(), db.Owner, "shop", outbox.Message{Queue: "one", Type: "t"}); !errors.Is(err, nexus.ErrNotFound) {
		t.Error(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Add(outbox.HandleLeased("one", func(context.Context, *outbox.Item) error { return nil }))
	if _, err := n.Work(t.Context(), 1); !errors.Is(err, nexus.ErrNotFound) {
		t.Error(err)
	}
}

func wantOrdered(t *testing.T, field string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeOrdered || e.Field != field {
		t.Errorf("%s: %v", field, err)
	}
}

// holds: ordered (from the log, and lanes cut anew)
// An ordered consumer that begins with the log while emits go on, commit late and roll back, and whose lanes are cut anew twice meanwhile: each
// key's events come once and in the order in which they were emitted.
func TestOrderedFromTheBeginning(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	orderedEffects(db)
	// As those of many lanes are looked at.
	db.Exec("create or replace function core_private.few_lanes() returns integer language sql immutable set search_path = pg_catalog, pg_temp as 'select 0'")
	rounds := 12
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		rounds = 150
	}
	const keys = 6
	var committed [keys][]int32
	var mu sync.Mutex
	stepped := sync.NewCond(&mu)
	did, moving := 0, keys // transactions that ended; emitters that wait for no other
	change := func(ended, moves int) {
		mu.Lock()
		defer mu.Unlock()
		did, moving = did+ended, moving+moves
		stepped.Broadcast()
	}
	var emitting sync.WaitGroup
	for k := range keys {
		emitting.Go(func() {
			defer change(0, -1)
			key, i := fmt.Sprintf("k%d", k), 0
			for range rounds {
				tx, err := db.Owner.Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				var mine []int32
				for range 1 + rand.IntN(4) {
					i++
					mine = append(mine, int32(i))
					if _, err := (queue.Emitter{Namespace: "shop"}).Emit(t.Context(), tx, "a.b", i, &queue.EmitOptions{OrderingKey: key}); err != nil {
						t.Error(err)
					}
				}
				if rand.IntN(3) == 0 { // late: others commit in between
					change(0, -1)
					mu.Lock()
					for target := did + keys; did < target && moving > 0; {
						stepped.Wait()
					}
					mu.Unlock()
					change(0, 1)
				}
				if rand.IntN(4) == 0 {
					_ = tx.Rollback(t.Context())
				} else if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				} else {
					committed[k] = append(committed[k], mine...)
				}
				change(1, 0)
			}
		})
	}
	at := func(share int) { // of what is emitted
		mu.Lock()
		defer mu.Unlock()
		for did < keys*rounds*share/10 {
			stepped.Wait()
		}
	}
	at(3)
	for range 2 {
		n := node.New(db.Pool, node.Config{Namespace: "shop", Poll: 20 * time.Millisecond})
		c := n.Subscribe("all", "a.*")
		c.Lanes, c.FromBeginning = 2, true
		c.On("a.*", noteIn)
		start(t, n)
	}
	db.Wait(`select count(*) = 2 from core.nodes where state = 'active'`) // who comes later is refused for its number of lanes
	at(5)
	if cut, err := outbox.Repartition(t.Context(), db.Owner, "shop", "all", 5); !cut || err != nil {
		t.Fatal(cut, err)
	}
	at(8)
	if cut, err := outbox.Repartition(t.Context(), db.Owner, "shop", "all", 3); !cut || err != nil {
		t.Fatal(cut, err)
	}
	emitting.Wait()
	total := 0
	for _, of := range committed {
		total += len(of)
	}
	eventually(t, "all is handled", time.Minute, func() bool {
		db.Exec(`select core.run_sweep('backfills'), core.run_sweep('lanes')`)
		return dbtest.Get[int](db, `select count(*)::int from public.ordered_effect`) >= total
	})
	for k := range keys {
		if got := seen(db, "all", fmt.Sprintf("k%d", k)); !slices.Equal(got, committed[k]) {
			t.Errorf("key %d: emitted %v, handled %v", k, committed[k], got)
		}
	}
	eventually(t, "the lanes of before are gone", time.Minute, func() bool {
		db.Exec(`select core.run_sweep('lanes')`)
		return dbtest.Get[string](db, `select string_agg(format('%s of %s', lane, generation), ',' order by lane) from core.lane_status`) == "0 of 4,1 of 4,2 of 4"
	})
}
