package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

func fire(db *dbtest.DB) int { return dbtest.Get[int](db, "select core.fire_due_events()") }

// holds: O1, O3
func TestAnEventFiresOnceAtItsTime(t *testing.T) {
	db := newDB(t)
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		db.SetNow(start)
		opts := &schedule.EventOptions{
			ID: uuid.New(), Tags: []string{"nightly"}, Headers: map[string]string{"traceparent": "tp"}, OrderingKey: "o",
			CorrelationID: "c", CausationUID: uuid.New(), AuthoredAt: start.Add(-time.Hour), Producer: "p",
		}
		at := start.Add(time.Hour).In(time.FixedZone("", 7200))
		for range 2 { // a repeated call is no error
			id, err := schedule.ScheduleEvent(t.Context(), q, ns, "bill.due", map[string]int{"n": 1}, at, opts)
			if err != nil || id != opts.ID {
				t.Fatalf("%s, %v; want %s", id, err, opts.ID)
			}
		}
		_, err := schedule.ScheduleEvent(t.Context(), q, ns, "bill.due", map[string]int{"n": 2}, at, opts)
		if e, _ := errors.AsType[*nexus.Error](err); !errors.Is(err, nexus.ErrConflict) || e.Code != nexus.CodeScheduledEventDiffers {
			t.Errorf("other content: %v", err)
		}
		all, err := schedule.ScheduleEvent(t.Context(), q, ns, "bill.all", nil, at.Add(time.Hour), &schedule.EventOptions{Broadcast: true})
		if err != nil || !dbtest.Get[bool](db, "select (metadata -> 'broadcast')::boolean from core.scheduled_events where schedule_id = $1", all) {
			t.Errorf("a broadcast: %v", err)
		}
		db.SetNow(at.Add(-time.Microsecond))
		if n := fire(db); n != 0 {
			t.Errorf("%d events fired early", n)
		}
		db.SetNow(at)
		if n := fire(db); n != 1 {
			t.Fatalf("%d events fired, want 1", n)
		}
		type event struct {
			Payload, Correlation, Ordering, Producer string
			Causation                                uuid.UUID
			Authored, Emitted                        time.Time
			Tags                                     []string
			Headers                                  map[string]string
		}
		rows, err := db.Owner.Query(t.Context(), `select l.payload::text, l.correlation_id, l.ordering_key, l.producer_node_id, l.causation_uid,
				l.authored_at, l.emitted_at, l.tags, l.headers
			from core.event_log l join pgmq.q_core_events_shop q on q.msg_id = (l.metadata ->> 'messageId')::bigint where l.event_uid = $1`, opts.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[event])
		if err != nil {
			t.Fatal(err)
		}
		got.Authored, got.Emitted = got.Authored.UTC(), got.Emitted.UTC()
		want := event{`{"n": 1}`, "c", "o", "p", opts.CausationUID, opts.AuthoredAt, at.UTC(), opts.Tags, opts.Headers}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})
}

func TestAnswers(t *testing.T) {
	db := newDB(t)
	at := db.Now().Add(time.Hour)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		check := func(name string, want schedule.Outcome, got schedule.Outcome, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
		cancel := func(id uuid.UUID) (schedule.Outcome, error) { return schedule.CancelScheduledEvent(t.Context(), q, id) }
		move := func(id uuid.UUID, at time.Time) (schedule.Outcome, error) {
			return schedule.RescheduleEvent(t.Context(), q, id, at)
		}
		id, err := schedule.ScheduleEvent(t.Context(), q, ns, "x", nil, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := move(id, at.Add(time.Hour))
		check("moved", schedule.Rescheduled, got, err)
		if due := dbtest.Get[time.Time](db, `select due_at from core.scheduled_events where schedule_id = $1`, id); !due.Equal(at.Add(time.Hour)) {
			t.Errorf("due at %s", due)
		}
		got, err = cancel(id)
		check("cancelled", schedule.Cancelled, got, err)
		got, err = cancel(id)
		check("cancelled again", schedule.NotFound, got, err)
		got, err = move(id, at)
		check("moved when cancelled", schedule.NotFound, got, err)

		id, err = schedule.ScheduleEvent(t.Context(), q, ns, "x", nil, db.Now().Add(-time.Hour), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := fire(db); n != 1 {
			t.Fatalf("%d events fired, want the one whose time has passed", n)
		}
		got, err = cancel(id)
		check("cancelled too late", schedule.AlreadyAppended, got, err)
		got, err = move(id, at)
		check("moved too late", schedule.AlreadyAppended, got, err)
		got, err = cancel(uuid.New())
		check("unknown", schedule.NotFound, got, err)
	})
}

// O1: what a transaction scheduled or cancelled is undone with it.
// holds: O1, O5
func TestARollbackLeavesNothing(t *testing.T) {
	db := newDB(t)
	rolledBack := func(do func(tx pgx.Tx)) {
		t.Helper()
		tx, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		do(tx)
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	opts := &schedule.EventOptions{ID: uuid.New()}
	rolledBack(func(tx pgx.Tx) {
		if _, err := schedule.ScheduleEvent(t.Context(), tx, ns, "x", nil, db.Now(), opts); err != nil {
			t.Fatal(err)
		}
	})
	if n := dbtest.Get[int](db, `select count(*)::int from core.scheduled_events`) + fire(db); n != 0 {
		t.Errorf("%d rows are left of a schedule that was rolled back", n)
	}
	if _, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "other", nil, db.Now(), opts); err != nil {
		t.Errorf("the id is not free again: %v", err)
	}
	other, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "x", nil, db.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rolledBack(func(tx pgx.Tx) {
		if got, err := schedule.CancelScheduledEvent(t.Context(), tx, opts.ID); got != schedule.Cancelled || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		// O5: the open cancel holds up nobody but its own event.
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		var n int
		if err := db.Owner.QueryRow(ctx, `select core.fire_due_events()`).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d events fired beside an open cancel, want 1; %v", n, err)
		}
	})
	if n := fire(db); n != 1 {
		t.Errorf("%d events fired after the cancel was rolled back, want 1", n)
	}
	if got, err := schedule.CancelScheduledEvent(t.Context(), db.Pool, other); got != schedule.AlreadyAppended || err != nil {
		t.Errorf("the other: %q, %v", got, err)
	}
}

// O8: what a handler schedules says what it follows from.
// holds: O8
func TestTheChainTravelsAlong(t *testing.T) {
	db := newDB(t)
	d := &nexus.Delivery{Event: nexus.Event{UID: uuid.New(), Depth: 4}}
	for name, correlation := range map[string]string{"its correlation": "c", "or its UID": ""} {
		t.Run(name, func(t *testing.T) {
			d.CorrelationID = correlation
			id, err := schedule.ScheduleEvent(nexus.WithDelivery(t.Context(), d), db.Pool, ns, "x", nil, db.Now(), nil)
			if err != nil {
				t.Fatal(err)
			}
			fire(db)
			want := d.UID.String() + " 5 "
			if correlation == "" {
				want += d.UID.String()
			} else {
				want += correlation
			}
			want += " " + dbtest.Login
			if got := dbtest.Get[string](db, `select concat_ws(' ', causation_uid, depth, correlation_id, principal) from core.event_log where event_uid = $1`, id); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	db := newDB(t)
	at := db.Now().Add(time.Hour)
	for name, test := range map[string]struct {
		call  func(q *pgxpool.Pool) error
		code  string
		field string
	}{
		"payload": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), nil, ns, "x", json.RawMessage(`{"n": 1e999}`), at, nil)
			return err
		}, nexus.CodePayload, "p_payload"},
		"tag": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), nil, ns, "x", nil, at, &schedule.EventOptions{Tags: []string{"\x00"}})
			return err
		}, nexus.CodeOptionValue, "tags"},
		"no time": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), nil, ns, "x", nil, time.Time{}, nil)
			return err
		}, nexus.CodeArgumentValue, "p_at"},
		"no time to move to": {func(q *pgxpool.Pool) error {
			_, err := schedule.RescheduleEvent(t.Context(), nil, uuid.New(), time.Time{})
			return err
		}, nexus.CodeArgumentValue, "p_at"},
		"event type": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), q, ns, "a b", nil, at, nil)
			return err
		}, nexus.CodeEventType, "p_event_type"},
		"namespace": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), q, "nowhere", "x", nil, at, nil)
			return err
		}, nexus.CodeNoNamespace, "p_namespace"},
		"header": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), q, ns, "x", nil, at, &schedule.EventOptions{Headers: map[string]string{"nexus-due": "x"}})
			return err
		}, nexus.CodeOptionValue, "headers.nexus-due"},
		"key": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), q, ns, "x", nil, at, &schedule.EventOptions{OrderingKey: strings.Repeat("k", 600)})
			return err
		}, nexus.CodeMetadataTooLarge, "ordering_key"},
		"too far": {func(q *pgxpool.Pool) error {
			_, err := schedule.ScheduleEvent(t.Context(), q, ns, "x", nil, at.AddDate(200, 0, 0), nil)
			return err
		}, nexus.CodeArgumentValue, "p_at"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := errors.AsType[*nexus.Error](test.call(db.Pool))
			if e == nil || e.Code != test.code || e.Field != test.field {
				t.Errorf("%+v; want %s for %s", e, test.code, test.field)
			}
		})
	}
}

// O2: what is due sooner than what a timer sleeps for wakes it; what is due later does not.
// holds: O2
func TestASoonerEventWakesTheTimers(t *testing.T) {
	db := newDB(t)
	conn := connect(t, db.Owner.Config().ConnConfig.Copy())
	if _, err := conn.Exec(t.Context(), `listen nexus_wake`); err != nil {
		t.Fatal(err)
	}
	add := func(in time.Duration) uuid.UUID {
		id, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "x", nil, db.Now().Add(in), nil)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	mark := func(m string) { db.Exec(`select pg_notify('nexus_wake', $1)`, m) }
	db.Exec(`select core_node.wait_for_wake('{timers}', '1 minute')`)
	add(2 * time.Hour) // the first
	mark("later")
	late := add(3 * time.Hour)
	mark("sooner")
	add(time.Hour)
	mark("moved")
	if _, err := schedule.RescheduleEvent(t.Context(), db.Pool, late, db.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	mark("end")
	var heard []string
	for len(heard) == 0 || heard[len(heard)-1] != "end" {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		n, err := conn.WaitForNotification(ctx)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, n.Payload)
	}
	if diff := cmp.Diff([]string{"timers", "later", "sooner", "timers", "moved", "timers", "end"}, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}
