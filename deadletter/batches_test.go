package deadletter_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// many fills the ledger with n dead letters of consumer default, every tenth of one that is gone.
func many(t *testing.T, db *dbtest.DB, n int) {
	t.Helper()
	db.Exec(`insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, attempts, failed_at, reason)
		select 'shop', case when g % 10 = 0 then 'gone' else 'default' end, 'a', 'delivery', to_jsonb(g), to_jsonb(g), 1, core.now(), 'r'
		  from generate_series(1, $1::int) g`, n)
}

func TestReplayAllGoesPastWhatItSkips(t *testing.T) {
	db := newDB(t, "shop")
	many(t, db, 2500)
	f := deadletter.Filter{Namespace: "shop"}
	var heard []int
	each := func(r deadletter.Result) { heard = append(heard, r.Done) }

	r, err := deadletter.ReplayAll(t.Context(), db.Owner, f, &deadletter.ReplayOptions{DryRun: true}, each)
	if err != nil || counts(r) != [3]int{2500, 2250, 250} || waiting(db, "shop") != 0 {
		t.Fatalf("dry run: %+v, %v, %d on the queue", r, err, waiting(db, "shop"))
	}
	if len(r.Skips) != 1 || r.Skips[0].Count != 250 || r.Skips[0].Why != "consumer 'gone' is gone" || r.Skips[0].IDs[0] != 10 {
		t.Errorf("skipped: %+v", r.Skips)
	}
	f.Limit = 1200
	if r, err = deadletter.ReplayAll(t.Context(), db.Owner, f, nil, nil); err != nil || counts(r) != [3]int{1200, 1080, 120} {
		t.Errorf("with a limit: %+v, %v", r, err)
	}
	f.Limit, heard = 0, nil
	if r, err = deadletter.ReplayAll(t.Context(), db.Owner, f, nil, each); err != nil || counts(r) != [3]int{1420, 1170, 250} {
		t.Errorf("the rest: %+v, %v", r, err)
	}
	if len(heard) != 2 || heard[0] >= 1170 || heard[1] != 1170 {
		t.Errorf("heard %v", heard)
	}
	if n := waiting(db, "shop"); n != 2250 {
		t.Errorf("%d on the queue", n)
	}
}

// Whoever is stopped between two batches keeps what they did, and the same call does the rest, once.
// holds: L4-rate
func TestReplayAllGoesOnWhereItWasStopped(t *testing.T) {
	db := newDB(t, "shop")
	many(t, db, 2500)
	f := deadletter.Filter{Namespace: "shop"}
	ctx, stop := context.WithCancel(t.Context())
	r, err := deadletter.ReplayAll(ctx, db.Owner, f, nil, func(deadletter.Result) { stop() })
	if !errors.Is(err, context.Canceled) || counts(r) != [3]int{1000, 900, 100} || waiting(db, "shop") != 900 {
		t.Fatalf("stopped: %+v, %v, %d on the queue", r, err, waiting(db, "shop"))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := deadletter.ReplayAll(t.Context(), db.Owner, f, nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r, err = deadletter.ReplayAll(t.Context(), db.Owner, f, nil, nil); err != nil || r.Skipped != 250 {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	if n := dbtest.Get[int64](db, "select count(distinct message) from pgmq.q_core_events_shop"); n != 2250 || waiting(db, "shop") != 2250 {
		t.Errorf("%d messages, %d different", waiting(db, "shop"), n)
	}
}

// The rate holds over batches: the last of them is due as late as if there were one.
// holds: L4-rate
func TestReplayAllAtARate(t *testing.T) {
	db := newDB(t, "shop")
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	many(t, db, 1500)
	if _, err := deadletter.ReplayAll(t.Context(), db.Owner, deadletter.Filter{Namespace: "shop"}, &deadletter.ReplayOptions{Rate: 1}, nil); err != nil {
		t.Fatal(err)
	}
	last := dbtest.Get[float64](db, "select extract(epoch from max(due_at) - core.now())::float8 from core.delayed")
	if last < 1300 || last > 1350 {
		t.Errorf("1350 deliveries at one a second end after %v s", last)
	}
	if n := waiting(db, "shop"); n != 1 {
		t.Errorf("%d are due at once", n)
	}
}

func TestResolveAndDiscardAll(t *testing.T) {
	db := newDB(t, "shop")
	many(t, db, 1500)
	ctx := t.Context()
	if _, err := deadletter.Resolve(ctx, db.Owner, deadletter.Filter{Namespace: "shop"}, "gone", "x"); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("a resolution there is not: %v", err)
	}
	r, err := deadletter.Resolve(ctx, db.Owner, deadletter.Filter{IDs: []int64{1}}, deadletter.HandledByHandler, "by hand")
	if err != nil || counts(r) != [3]int{1, 1, 0} || resolutions(t, db)[1] != "handled_by_handler" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = deadletter.ResolveAll(ctx, db.Owner, deadletter.Filter{Namespace: "shop", Limit: 1100}, deadletter.Ignored, "test data", nil)
	if err != nil || counts(r) != [3]int{1100, 1100, 0} {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = deadletter.DiscardAll(ctx, db.Owner, deadletter.Filter{Namespace: "shop", AfterID: 1490}, "no use", nil)
	if err != nil || counts(r) != [3]int{10, 10, 0} {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPreview(t *testing.T) {
	db := newDB(t, "shop")
	ids := bury(t, db, "shop", "no sku", "order.placed", "order.placed", "page.viewed")
	groups, err := deadletter.Preview(t.Context(), db.Owner, deadletter.Filter{Namespace: "shop"}, 1)
	if err != nil || len(groups) != 2 {
		t.Fatalf("%+v, %v", groups, err)
	}
	if g := groups[0]; g.Type != "order.placed" || g.Reason != "no sku" || g.Count != 2 || g.NotReplayable != "" || len(g.First) != 1 ||
		g.First[0].ID != ids[0] || g.First[0].Attempts != 1 || g.First[0].LastError != "boom" || g.Oldest.IsZero() || g.Newest.Before(g.Oldest) {
		t.Errorf("%+v", g)
	}
	if _, err := deadletter.Preview(t.Context(), db.Pool, deadletter.Filter{Namespace: "shop"}, 1); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("an ordinary login previews: %v", err)
	}
}
