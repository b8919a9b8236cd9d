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
	// The fence counts leases; a delivery splits them into attempts and releases.
	now.Attempt, now.Deferrals = now.Attempt-1, 1
	if err := queue.Ack(t.Context(), db.Pool, now); err != nil {
		t.Error(err)
	}
	if got := dbtest.Get[int64](db, waiting); got != 0 {
		t.Errorf("%d messages left", got)
	}
	now.Consumer = "nobody"
	wantError(t, queue.Ack(t.Context(), db.Pool, now), nexus.ErrNotFound, nexus.CodeNoConsumer, "p_consumer")
}

func TestAckEveryWay(t *testing.T) {
	db := newDB(t)
	everyWay(t, db, func(t *testing.T, q nexus.DBTX) {
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
