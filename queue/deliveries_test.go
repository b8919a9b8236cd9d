package queue_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// holds: L5
func TestCancelAndRunDeliveriesNow(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		receipts := make([]queue.Receipt, 2)
		for i := range receipts {
			var err error
			if receipts[i], err = bus.Emit(t.Context(), q, "paid", nil, &queue.EmitOptions{Delay: time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		first, second := receipts[0].EventID, receipts[1].EventID
		which := queue.Deliveries{Namespace: ns, EventIDs: []int64{first, second}}
		got, err := queue.RunDeliveriesNow(t.Context(), q, which)
		want := []queue.DeliveryOutcome{{first, "default", queue.DueNow, 0, ""}, {second, "default", queue.DueNow, 0, ""}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("%v %s", err, d)
		}
		which.Consumer, which.EventIDs = "default", []int64{second, 0}
		got, err = queue.CancelDeliveries(t.Context(), q, which, "a mistake")
		if err != nil || len(got) != 2 || got[0].Outcome != queue.Cancelled || got[0].DeadLetterID == 0 || got[1].Outcome != queue.NotFound {
			t.Fatalf("%+v, %v", got, err)
		}
		if d := claim(t, db); d.ID != first {
			t.Errorf("event %d is claimed", d.ID)
		}
		_, err = queue.RunDeliveriesNow(t.Context(), q, queue.Deliveries{Namespace: ns})
		wantError(t, err, nexus.ErrInvalid, nexus.CodeArgumentValue, "p_event_ids")
	})
}

// What somebody else has locked is left to him, at once: no wait, and no answer that is wrong.
// holds: L5
func TestCancelLeavesWhatIsHeld(t *testing.T) {
	db := newDB(t)
	receipt, err := bus.Emit(t.Context(), db.Pool, "paid", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	var xact int64
	if err := tx.QueryRow(t.Context(), `select msg_id from core_node.claim_batch($1, '{*}', '{0}', 10, p_key => 7, p_within => '1 min') where outcome = 'window'`,
		mainQueue).Scan(&xact); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core_node.open_express($1, 'till-3', $2, array[$3::bigint])`, mainQueue, xact, receipt.MessageID)
	which := queue.Deliveries{Namespace: ns, EventIDs: []int64{receipt.EventID}}
	for name, do := range map[string]func() ([]queue.DeliveryOutcome, error){
		"cancel": func() ([]queue.DeliveryOutcome, error) {
			return queue.CancelDeliveries(t.Context(), db.Owner, which, "x")
		},
		"run": func() ([]queue.DeliveryOutcome, error) { return queue.RunDeliveriesNow(t.Context(), db.Owner, which) },
	} {
		got, err := do()
		if err != nil || len(got) != 1 || got[0].Outcome != queue.Busy || !strings.HasPrefix(got[0].Detail, "in an express batch of node till-3 since ") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := queue.CancelDeliveries(t.Context(), db.Owner, which, "x")
	if err != nil || len(got) != 1 || got[0].Outcome != queue.Cancelled || dbtest.Get[int64](db, waiting) != 0 {
		t.Errorf("when it is free: %+v, %v", got, err)
	}
}
