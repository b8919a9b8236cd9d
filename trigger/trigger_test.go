package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
)

// holds: T3, T6, T13
func TestCreate(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	one := trigger.Trigger{
		Namespace: "shop", Name: "mail", Target: "go:mail", Event: &trigger.Event{Pattern: "order.*", Contains: json.RawMessage(`{"a": 1}`)},
		Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: 3 * time.Second},
	}
	id, err := trigger.Create(ctx, db.Pool, one)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := trigger.Create(ctx, db.Pool, one); err != nil || again != id {
		t.Errorf("again: %v %v", again, err)
	}
	other := one
	other.Target = "go:other"
	if _, err := trigger.Create(ctx, db.Pool, other); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("another target: %v", err)
	}
	other.Replace, other.Disabled = true, true
	if again, err := trigger.Create(ctx, db.Pool, other); err != nil || again != id {
		t.Errorf("replaced: %v %v", again, err)
	}
	verdicts, err := trigger.Test(ctx, db.Pool, "shop", "order.made", map[string]int{"a": 1})
	if diff := cmp.Diff([]trigger.Verdict{{id, "mail", "go:other", "disabled"}}, verdicts); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, want := range []bool{true, false} {
		if changed, err := trigger.Enable(ctx, db.Pool, "shop", "mail", nil); err != nil || changed != want {
			t.Errorf("enabled: %v %v", changed, err)
		}
	}
	if changed, err := trigger.Disable(ctx, db.Pool, "shop", "mail", false); err != nil || !changed {
		t.Errorf("disabled: %v %v", changed, err)
	}
	if _, err := trigger.DropHandler(ctx, db.Pool, "shop", "go:other"); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("a handler in use: %v", err)
	}
	if n, err := trigger.Delete(ctx, db.Pool, "shop", "mail"); err != nil || n != 0 {
		t.Errorf("deleted: %d %v", n, err)
	}
	if _, err := trigger.Delete(ctx, db.Pool, "shop", "mail"); !errors.Is(err, nexus.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if had, err := trigger.DropHandler(ctx, db.Pool, "shop", "go:other"); err != nil || !had {
		t.Errorf("dropped: %v %v", had, err)
	}
	if m, err := trigger.CreateHandler(ctx, db.Pool, "shop", "go:new", nil); err != nil || !m.Created {
		t.Errorf("handler: %+v %v", m, err)
	}
	if _, err := trigger.CreateHandler(ctx, db.Pool, "shop", "sql:none", &trigger.HandlerOptions{Function: "app.none(jsonb)"}); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("a function that is not there: %v", err)
	}
	for _, bad := range []trigger.Trigger{{Name: "a"}, {Name: "a", Target: "go:a"}, {Name: "a", Target: "go:a", Event: &trigger.Event{Pattern: "a", Contains: json.RawMessage(`[]`)}}} {
		bad.Namespace = "shop"
		if _, err := trigger.Create(ctx, db.Pool, bad); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A handler that makes what fired it ends, in Go and in SQL: each event is one deeper than the one before, and names it as its cause.
// holds: T5, T12
func TestALoopEnds(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.alter_namespace('shop', '{\"default_consumer\": \"off\"}')")
	login, url := db.As("nexus_producer", "nexus_consumer")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	db.Exec("create schema loops authorization " + login)
	if _, err := conn.Exec(t.Context(), `create function loops.again(p_event jsonb) returns void language plpgsql security definer set search_path = loops, pg_temp as $h$ begin
			perform core.emit('shop', 'sql.loop', '{}'); perform core.emit_batch('shop', '{sql.batch}', array['{}']::jsonb[]); end $h$;
		revoke execute on function loops.again(jsonb) from public;
		grant usage on schema loops to nexus_guard; grant execute on function loops.again(jsonb) to nexus_guard;
		select core.create_handler('shop', 'sql:again', '{"function": "loops.again(jsonb)"}')`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"sql.loop": "sql:again", "go.loop": "go:again"} {
		if _, err := trigger.Create(t.Context(), db.Pool, trigger.Trigger{Namespace: "shop", Name: name, Target: target, Event: &trigger.Event{Pattern: name}}); err != nil {
			t.Fatal(err)
		}
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	shop := queue.Emitter{Namespace: "shop"}
	var keys []string
	n.Triggers().On("again", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		keys = append(keys, d.IdempotencyKey())
		if d.TriggerID == uuid.Nil || d.MaxAttempts != 3 {
			return nexus.Reject("it has no trigger")
		}
		_, err := shop.Emit(ctx, tx, "go.loop", nil, nil)
		return err
	})
	if _, err := shop.Emit(t.Context(), db.Pool, "go.loop", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Emit(t.Context(), db.Pool, "sql.loop", nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := n.Work(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "select core.work('shop')"); err != nil {
			t.Fatal(err)
		}
	}
	for eventType, want := range map[string]string{"go.loop": "0 1 2 3 4 5 6 7 8 9", "sql.loop": "0 1 2 3 4 5 6 7 8 9", "sql.batch": "1 2 3 4 5 6 7 8 9"} {
		if got := dbtest.Get[string](db, `select string_agg(depth::text, ' ' order by event_id) from core.event_log where event_type = $1 and (depth = 0 or causation_uid is not null)`, eventType); got != want {
			t.Errorf("%s: depths %s", eventType, got)
		}
		if eventType != "sql.batch" && dbtest.Get[int](db, `select sum(deliveries)::int from core.trigger_drops where event_type = $1 and why = 'depth'`, eventType) != 1 {
			t.Errorf("%s: what was dropped is not noted", eventType)
		}
	}
	if len(keys) != 9 || len(slices.Compact(keys)) != 9 || strings.Contains(keys[0], "triggers") {
		t.Errorf("keys: %v", keys)
	}
}

// Beside emits, triggers are enabled, disabled, replaced and deleted: what an emit delivers is by a trigger that was there, and none of them fails.
// holds: T1, T6
func TestChangesBesideEmits(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	var stop atomic.Bool
	var emitted atomic.Int64
	var at sync.WaitGroup
	for range 3 {
		at.Go(func() {
			for !stop.Load() {
				if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, db.Pool, "order.made", map[string]int{"a": 1}, nil); err != nil {
					t.Error(err)
					return
				}
				emitted.Add(1)
			}
		})
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	made := trigger.Trigger{Namespace: "shop", Target: "go:mail", Event: &trigger.Event{Pattern: "order.*"}}
	made.Name = "stays"
	_, err := trigger.Create(ctx, db.Pool, made)
	do(err)
	before := emitted.Load() + 3 // those under way may not have seen it
	for emitted.Load() < before+150 {
		made.Name, made.Replace = "goes", true
		made.Event.Contains = nil
		_, err := trigger.Create(ctx, db.Pool, made)
		do(err)
		made.Event.Contains = json.RawMessage(`{"a": 2}`)
		_, err = trigger.Create(ctx, db.Pool, made)
		do(err)
		_, err = trigger.Disable(ctx, db.Pool, "shop", "goes", false)
		do(err)
		_, err = trigger.Enable(ctx, db.Pool, "shop", "goes", nil)
		do(err)
		_, err = trigger.Delete(ctx, db.Pool, "shop", "goes")
		do(err)
	}
	stop.Store(true)
	at.Wait()
	n := dbtest.Get[int64](db, `select count(*) from pgmq.q_core_events_shop__triggers where message ->> 'trigger' = 'stays'`)
	if n < emitted.Load()-before || n > emitted.Load() {
		t.Errorf("%d of %d events were delivered by the trigger that stays, which saw those after %d", n, emitted.Load(), before)
	}
	if n != dbtest.Get[int64](db, `select count(distinct message ->> 'eventUid') from pgmq.q_core_events_shop__triggers where message ->> 'trigger' = 'stays'`) {
		t.Error("an event was delivered twice")
	}
	db.Exec(`select core_node.claim('core_events_shop__triggers', '{*}', '{0}', 10000, '30 s')`)
	if left := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop__triggers q where vt > core.now() and message ->> 'trigger' = 'goes'`); left > 0 {
		t.Errorf("%d deliveries of a trigger that is gone were claimed", left)
	}
}

// Beside emits and claims a trigger is held and enabled again: each delivery that was made is handled once, and none is left aside.
// holds: T6 (hold beside emits and claims)
func TestAHoldBesideClaims(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	if _, err := trigger.Create(ctx, db.Pool, trigger.Trigger{Namespace: "shop", Name: "held", Target: "go:mail", Event: &trigger.Event{Pattern: "*"}}); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var at sync.WaitGroup
	var mu sync.Mutex
	handled := map[int64]int{}
	handle := func() (n int, err error) {
		var ids []int64
		// The transaction ends a little later, as that of a batch does.
		err = pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, `select coalesce(array_agg(c.msg_id), '{}') from core_node.claim('core_events_shop__triggers', '{go:mail}', '{0}', 20, '1 h') c
				 where c.outcome = 'claimed'`).Scan(&ids); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "select")
			return err
		})
		if err != nil {
			return 0, err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			handled[id]++
		}
		return len(ids), nil
	}
	for range 2 {
		at.Go(func() {
			for !stop.Load() {
				if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, db.Pool, "order.made", 1, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
		at.Go(func() {
			for !stop.Load() {
				if _, err := handle(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 40 {
		for _, hold := range []bool{true, false} {
			var err error
			if hold {
				_, err = trigger.Disable(ctx, db.Pool, "shop", "held", true)
			} else if _, err = trigger.Enable(ctx, db.Pool, "shop", "held", nil); err == nil {
				_, err = db.Pool.Exec(ctx, "select core_node.promote_delayed()")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	stop.Store(true)
	at.Wait()
	for n := 1; n > 0; {
		db.Exec("select core_node.promote_delayed(100000)")
		var err error
		if n, err = handle(); err != nil {
			t.Fatal(err)
		}
	}
	if aside := dbtest.Get[int](db, "select count(*)::int from core.delayed"); aside > 0 {
		t.Errorf("%d deliveries are left aside", aside)
	}
	made := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop__triggers`)
	if made == 0 || made != len(handled) || made != dbtest.Get[int](db, "select last_value::int from pgmq.q_core_events_shop__triggers_msg_id_seq") {
		t.Errorf("%d of %d deliveries were handled", len(handled), made)
	}
	for id, n := range handled {
		if n != 1 {
			t.Errorf("delivery %d was claimed %d times", id, n)
		}
	}
}
