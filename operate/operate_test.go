package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/operate"
	"github.com/nexuspg/nexus/queue"
)

// holds: operate
func TestPeek(t *testing.T) {
	db := newDB(t)
	db.Exec(`select core.emit('shop', 'paid', '{"n": 9007199254740993}') from generate_series(1, 3)`)
	db.Exec(`select core.emit('shop', 'later', '{}', '{"delay": "1 h"}')`)
	db.Exec("select core_node.claim('core_events_shop', '{paid}', '{0}', 1, '30 s')")
	db.Exec("update pgmq.q_core_events_shop set vt = 'infinity' where msg_id = 3") // somebody holds it by hand
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		got, err := operate.Peek(t.Context(), q, mainQueue, 10)
		if err != nil {
			t.Fatal(err)
		}
		var brief []string
		for _, m := range got {
			brief = append(brief, strings.TrimSpace(fmt.Sprintln(m.ID, m.State, m.Type, m.ReadCount, m.DueAt.IsZero(), m.EnqueuedAt.IsZero())))
		}
		want := []string{"1 in_flight paid 1 false false", "2 visible paid 0 false false", "3 waiting paid 0 true false", "0 delayed later 0 false true"}
		if d := cmp.Diff(want, brief); d != "" {
			t.Errorf("messages: %s", d)
		}
		if !strings.Contains(string(got[1].Body), "9007199254740993") {
			t.Errorf("its body is %s", got[1].Body)
		}
		if got, err := operate.Peek(t.Context(), q, mainQueue, 1); err != nil || len(got) != 1 {
			t.Errorf("%d messages, %v", len(got), err)
		}
		_, err = operate.Peek(t.Context(), q, mainQueue, 0)
		wantError(t, err, nexus.ErrInvalid, nexus.CodeArgumentValue)
		_, err = operate.Peek(t.Context(), q, "nowhere", 1)
		wantError(t, err, nexus.ErrNotFound, nexus.CodeNoQueue)
	})
}

// holds: operate
func TestPurgeQueue(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		db.Exec("select core.emit('shop', 'paid') from generate_series(1, 5)")
		db.Exec(`select core.emit('shop', 'paid', '{}', '{"delay": "1 h"}')`)
		db.Exec("select core_node.claim('core_events_shop', '{paid}', '{0}', 2, '30 s')")
		_, err := operate.PurgeQueue(t.Context(), q, mainQueue, "core_events_shpo", 10)
		wantError(t, err, nexus.ErrConflict, nexus.CodeNotConfirmed)
		got, err := operate.PurgeQueue(t.Context(), q, mainQueue, mainQueue, 1)
		if d := cmp.Diff(operate.Purged{Removed: 1, InFlight: 1}, got); err != nil || d != "" {
			t.Errorf("one: %v %s", err, d)
		}
		got, err = operate.PurgeQueueAll(t.Context(), q, mainQueue, mainQueue, nil)
		if d := cmp.Diff(operate.Purged{Removed: 4, InFlight: 1, Delayed: 1}, got); err != nil || d != "" {
			t.Errorf("the rest: %v %s", err, d)
		}
	})
}

// holds: operate
func TestPurgeQueueAllGoesOnInBatches(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("select core.emit('shop', 'paid') from generate_series(1, 10005)")
	var heard []int64
	got, err := operate.PurgeQueueAll(t.Context(), db.Owner, mainQueue, mainQueue, func(sofar operate.Purged) { heard = append(heard, sofar.Removed) })
	if err != nil || got.Removed != 10_005 || !cmp.Equal(heard, []int64{10_000}) {
		t.Errorf("%+v after %v, %v", got, heard, err)
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.audit_log where action = 'purge_queue'"); n != 2 {
		t.Errorf("it was %d batches", n)
	}
}

func TestQueueNames(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for name, of := range map[string]func() (string, error){
		mainQueue:              func() (string, error) { return operate.QueueName(t.Context(), db.Pool, ns) },
		"core_events_shop_dlq": func() (string, error) { return operate.DeadLetterQueueName(t.Context(), db.Pool, ns) },
	} {
		if got, err := of(); err != nil || got != name || !dbtest.Get[bool](db, "select exists (select from core.queues where queue_name = $1)", name) {
			t.Errorf("got %s, %v, want %s", got, err, name)
		}
	}
}

// holds: operate
func TestEventStatusAndFindEvent(t *testing.T) {
	db := newDB(t)
	uid := dbtest.Get[string](db, `select event_uid::text from core.emit('shop', 'paid')`)
	emitted := dbtest.Get[time.Time](db, "select emitted_at from core.event_log")
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		id, err := operate.FindEvent(t.Context(), q, uuid.MustParse(uid), time.Time{})
		if err != nil || id != 1 {
			t.Fatalf("event %d, %v", id, err)
		}
		for around, want := range map[time.Time]int64{emitted.Add(50 * time.Minute): 1, emitted.Add(70 * time.Minute): 0} {
			if id, err := operate.FindEvent(t.Context(), q, uuid.MustParse(uid), around); err != nil || id != want {
				t.Errorf("around %s: event %d, %v", around, id, err)
			}
		}
		got, err := operate.EventStatus(t.Context(), q, id, false)
		if err != nil || len(got) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if got[0].DueAt.IsZero() {
			t.Error("it is due at no time")
		}
		got[0].DueAt = time.Time{}
		want := operate.DeliveryStatus{Consumer: "default", State: operate.Visible, Queue: mainQueue, MessageID: 1, Attempt: got[0].Attempt}
		if d := cmp.Diff(want, got[0]); d != "" {
			t.Error(d)
		}
		if got, err := operate.EventStatus(t.Context(), q, 99, true); err != nil || len(got) != 0 {
			t.Errorf("of no event: %+v, %v", got, err)
		}
	})
}

// holds: operate
func TestDrainAndForgetNode(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		db.Exec("delete from core.nodes; select core_node.register_node('shop', 'n', true, '{}')")
		asked, err := operate.DrainNode(t.Context(), q, "n", "deploy")
		if err != nil || !asked || !dbtest.Get[bool](db, "select drain_requested_at is not null from core.nodes") {
			t.Errorf("drain: %t, %v", asked, err)
		}
		for _, left := range []int{1, 0} { // lost, then off the list
			forgotten, err := operate.ForgetNode(t.Context(), q, "n", "")
			if n := dbtest.Get[int](db, "select count(*)::int from core.nodes"); err != nil || !forgotten || n != left {
				t.Errorf("forget: %t, %v, %d are left", forgotten, err, n)
			}
		}
		_, err = operate.DrainNode(t.Context(), q, "n", "")
		wantError(t, err, nexus.ErrNotFound, nexus.CodeNoNode)
		_, err = operate.ForgetNode(t.Context(), q, "n", "")
		wantError(t, err, nexus.ErrNotFound, nexus.CodeNoNode)
		db.Exec("select core_node.register_node('shop', 'n', true, '{}'); update core.nodes set state = 'stopped'")
		for _, verb := range []func() (bool, error){
			func() (bool, error) { return operate.DrainNode(t.Context(), q, "n", "") },
			func() (bool, error) { return operate.ForgetNode(t.Context(), q, "n", "") },
		} {
			if did, err := verb(); did || err != nil {
				t.Errorf("of a node that stopped: %t, %v", did, err)
			}
		}
	})
	if got := dbtest.Get[string](db, "select string_agg(distinct concat_ws(' ', action, target, reason), '; ') from core.audit_log"); got != "drain_node n deploy; forget_node n" {
		t.Errorf("the audit log says %s", got)
	}
}

// holds: operate
func TestRunSweep(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		run, err := operate.RunSweep(t.Context(), q, "reap")
		if err != nil || run.Sweep != "reap" || run.Error != "" || run.Beside {
			t.Errorf("%+v, %v", run, err)
		}
		_, err = operate.RunSweep(t.Context(), q, "nothing")
		wantError(t, err, nexus.ErrNotFound, nexus.CodeNoSweep)
	})
	// One that fails is an answer.
	db.Exec("alter table core.nodes rename to away")
	if run, err := operate.RunSweep(t.Context(), db.Owner, "reap"); err != nil || !strings.HasPrefix(run.Error, "42P01 ") {
		t.Errorf("%+v, %v", run, err)
	}
}

// holds: operate
func TestGrantAndRevokeNamespace(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		granted := func() string {
			return dbtest.Get[string](db, "select coalesce(string_agg(role_name || ' ' || duty, ', '), '') from core.namespace_grants")
		}
		for range 2 {
			if err := operate.GrantNamespace(t.Context(), q, ns, "pg_monitor", operate.Read); err != nil || granted() != "pg_monitor read" {
				t.Errorf("granted are %q, %v", granted(), err)
			}
		}
		for range 2 {
			if err := operate.RevokeNamespace(t.Context(), q, ns, "pg_monitor", operate.Read); err != nil || granted() != "" {
				t.Errorf("granted are %q, %v", granted(), err)
			}
		}
		wantError(t, operate.GrantNamespace(t.Context(), q, ns, "pg_monitor", "dance"), nexus.ErrInvalid, nexus.CodeArgumentValue)
		wantError(t, operate.GrantNamespace(t.Context(), q, "nowhere", "pg_monitor", operate.Read), nexus.ErrNotFound, nexus.CodeNoNamespace)
	})
}

// holds: C5
func TestReplaysGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("select core.create_consumer('shop', 'mail', '{paid}')")
	db.Exec("select core.emit('shop', 'paid') from generate_series(1, 30)")
	db.Exec("select core.purge_queue('core_events_shop__mail', 'core_events_shop__mail')")
	which := operate.ReplayFilter{Type: "paid"}
	if p, err := operate.ReplayEvents(t.Context(), db.Owner, ns, "mail", which, &operate.ReplayOptions{DryRun: true}); err != nil || p.Delivered != 30 {
		t.Errorf("would deliver %d, %v", p.Delivered, err)
	}
	one, err := operate.ReplayEvents(t.Context(), db.Owner, ns, "mail", which, &operate.ReplayOptions{Step: 10})
	if err != nil || one.State != "running" || one.Delivered != 10 {
		t.Fatalf("%+v, %v", one, err)
	}

	// A step that does not commit, then several callers at once.
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operate.ReplayEvents(t.Context(), tx, ns, "mail", which, &operate.ReplayOptions{ID: one.ID, Step: 10}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			p, err := operate.ReplayEventsAll(t.Context(), db.Owner, ns, "mail", which, &operate.ReplayOptions{ID: one.ID, Step: 3}, nil)
			if err != nil || p.State != "done" || p.Delivered != 30 {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	callers.Wait()
	if n := dbtest.Get[int](db, "select count(distinct (message ->> 'eventId'))::int from pgmq.q_core_events_shop__mail where message ->> 'replay' = $1 having count(*) = 30", one.ID); n != 30 {
		t.Errorf("%d events, each once", n)
	}
	_, err = operate.ReplayEvents(t.Context(), db.Owner, ns, "mail", operate.ReplayFilter{Type: "*"}, &operate.ReplayOptions{ID: one.ID})
	wantError(t, err, nexus.ErrConflict, nexus.CodeReplayDiffers)
}

// holds: C5
func TestAReplayHasItsRate(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("select core.emit('shop', 'paid') from generate_series(1, 30)")
	began := time.Now()
	p, err := operate.ReplayEventsAll(t.Context(), db.Owner, ns, "default", operate.ReplayFilter{Type: "paid"}, &operate.ReplayOptions{Rate: "20/s"}, nil)
	if took := time.Since(began); err != nil || p.Delivered != 30 || took < 450*time.Millisecond {
		t.Errorf("%+v after %s, %v", p, took, err)
	}
}

// holds: T8 (the setting and the option that wins)
func TestAlterSettings(t *testing.T) {
	db := newDB(t)
	given := operate.Settings{MaxTriggerDepth: 3, TriggerRetry: nexus.RetryPolicy{MaxAttempts: 4}, DeadLetterRetention: 48 * time.Hour, AbandonedRetention: time.Hour}
	for _, role := range []string{"nexus_operator", "nexus_admin"} {
		_, url := db.As(role)
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if err := operate.AlterSettings(t.Context(), conn, given); (err != nil) != (role == "nexus_operator") || err != nil && !errors.Is(err, nexus.ErrForbidden) {
			t.Errorf("as %s: %v", role, err)
		}
	}
	if got := dbtest.Get[string](db, "select concat_ws(' ', max_trigger_depth, trigger_retry ->> 'max_attempts', dead_letter_retention, abandoned_retention) from core.settings"); got != "3 4 48:00:00 01:00:00" {
		t.Errorf("settings: %s", got)
	}
	for want, depth := range map[string]int{"5": 5, "": -1} {
		o := queue.NamespaceOptions{MaxTriggerDepth: depth, DeadLetterRetention: time.Duration(depth) * 24 * time.Hour, AbandonedRetention: -1}
		if err := queue.AlterNamespace(t.Context(), db.Owner, "shop", &o); err != nil {
			t.Fatal(err)
		}
		if got := dbtest.Get[string](db, "select coalesce(max_trigger_depth::text, '') from core.namespaces where namespace = 'shop'"); got != want {
			t.Errorf("the namespace has %q and not %q", got, want)
		}
	}
}
