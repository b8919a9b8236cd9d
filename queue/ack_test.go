package queue_test

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

const waiting = "select count(*) from pgmq.q_core_events_shop"

func TestAckCommitsWithTheCallersWrites(t *testing.T) {
	db := newDB(t)
	if _, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil); err != nil {
		t.Fatal(err)
	}
	d := claim(t, db)
	for _, commit := range []bool{false, true} {
		tx, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Ack(t.Context(), tx, d); err != nil {
			t.Fatal(err)
		}
		want := int64(1)
		if commit {
			want, err = 0, tx.Commit(t.Context())
		} else {
			err = tx.Rollback(t.Context())
		}
		if got := dbtest.Get[int64](db, waiting); err != nil || got != want {
			t.Errorf("commit %v: %d messages left, want %d: %v", commit, got, want, err)
		}
	}
	err := queue.Ack(t.Context(), db.Pool, d)
	wantError(t, err, nexus.ErrLeaseLost, nexus.CodeLeaseLost, "p_read_ct")
}

func TestAckNeedsTheLease(t *testing.T) {
	db := newDB(t)
	if _, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil); err != nil {
		t.Fatal(err)
	}
	late := claim(t, db)
	db.Advance(2 * time.Minute)
	now := claim(t, db)
	wantError(t, queue.Ack(t.Context(), db.Pool, late), nexus.ErrLeaseLost, nexus.CodeLeaseLost, "p_read_ct")
	if got := dbtest.Get[int64](db, waiting); got != 1 {
		t.Fatalf("%d messages left", got)
	}
	// What a handler does to its delivery changes nothing about which one that is.
	now.Attempt, now.Deferrals, now.MessageID, now.Consumer, now.Namespace = now.Attempt-1, 1, 4711, "nobody", "elsewhere"
	if err := queue.Ack(t.Context(), db.Pool, now); err != nil {
		t.Error(err)
	}
	if got := dbtest.Get[int64](db, waiting); got != 0 {
		t.Errorf("%d messages left", got)
	}
	wantError(t, queue.Ack(t.Context(), db.Pool, now), nexus.ErrLeaseLost, nexus.CodeLeaseLost, "p_read_ct")
}

// A delivery that no node handed out, or that was overwritten, names no lease, whatever its fields say.
// holds: lent
func TestAckOfADeliveryMadeByHand(t *testing.T) {
	db := newDB(t)
	if _, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil); err != nil {
		t.Fatal(err)
	}
	d := claim(t, db)
	for name, forged := range map[string]*nexus.Delivery{
		"zero":   {},
		"forged": {Event: d.Event, Consumer: d.Consumer, MessageID: d.MessageID, Attempt: d.Attempt, MaxAttempts: d.MaxAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, queue.Ack(t.Context(), db.Pool, forged), nexus.ErrInvalid, nexus.CodeArgumentValue, "d")
		})
	}
	again := *d
	*d = nexus.Delivery{}
	wantError(t, queue.Ack(t.Context(), db.Pool, d), nexus.ErrInvalid, nexus.CodeArgumentValue, "d")
	if got := dbtest.Get[int64](db, waiting); got != 1 {
		t.Fatalf("%d messages left", got)
	}
	if err := queue.Ack(t.Context(), db.Pool, &again); err != nil {
		t.Errorf("a copy: %v", err)
	}
}

func TestAckEveryWay(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		if _, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil); err != nil {
			t.Fatal(err)
		}
		d := claim(t, db)
		if err := queue.Ack(t.Context(), q, d); err != nil {
			t.Error(err)
		}
	})
	if got := dbtest.Get[int64](db, waiting); got != 0 {
		t.Errorf("%d messages left", got)
	}
}

// A claim whose commit is lost, in a failover or a restore, leaves the message unread; the next claim of it has the same read_ct.
// holds: HA4
func TestAckOfALostClaim(t *testing.T) {
	db := newDB(t)
	if _, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil); err != nil {
		t.Fatal(err)
	}
	before := dbtest.Get[time.Time](db, "select vt from pgmq.q_core_events_shop")
	lost := claim(t, db)
	db.Exec("update pgmq.q_core_events_shop set read_ct = 0, last_read_at = null, vt = $1", before)
	now := claim(t, db)
	if lost.MessageID != now.MessageID || lost.Attempt != now.Attempt {
		t.Fatalf("%+v and %+v should look alike", lost, now)
	}
	wantError(t, queue.Ack(t.Context(), db.Pool, lost), nexus.ErrLeaseLost, nexus.CodeLeaseLost, "p_read_ct")
	if got := dbtest.Get[int64](db, waiting); got != 1 {
		t.Fatalf("%d messages left", got)
	}
	if err := queue.Ack(t.Context(), db.Pool, now); err != nil {
		t.Error(err)
	}
}
