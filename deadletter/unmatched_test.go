package deadletter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/deadletter"
)

// Ids that match nothing are a mistake of the caller, who learns of it.
func TestIDsThatMatchNothingAreTold(t *testing.T) {
	t.Parallel()
	db := newDB(t, "shop")
	ids := bury(t, db, "shop", "no sku", "order.placed", "order.placed", "order.placed", "order.placed")
	ctx := t.Context()
	if _, err := deadletter.Replay(ctx, db.Owner, deadletter.Filter{IDs: ids[:1]}, nil); err != nil {
		t.Fatal(err)
	}
	want := []deadletter.Skip{
		{Why: "it is resolved already: replayed", Count: 1, IDs: ids[:1]},
		{Why: "there is no such dead letter, or none that you may see", Count: 2, IDs: []int64{998, 999}},
	}
	for name, do := range map[string]func(deadletter.Filter) (deadletter.Result, error){
		"replay": func(f deadletter.Filter) (deadletter.Result, error) { return deadletter.Replay(ctx, db.Owner, f, nil) },
		"replay all": func(f deadletter.Filter) (deadletter.Result, error) {
			return deadletter.ReplayAll(ctx, db.Owner, f, nil, nil)
		},
		"resolve": func(f deadletter.Filter) (deadletter.Result, error) {
			return deadletter.Resolve(ctx, db.Owner, f, deadletter.Ignored, "x")
		},
		"discard": func(f deadletter.Filter) (deadletter.Result, error) { return deadletter.Discard(ctx, db.Owner, f, "x") },
	} {
		if r, err := do(deadletter.Filter{IDs: []int64{ids[0], 999, 998, 999}}); err != nil || counts(r) != [3]int{} || cmp.Diff(want, r.Skips) != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := deadletter.Discard(ctx, db.Owner, deadletter.Filter{IDs: append([]int64{999, 998}, ids[:2]...)}, "x"); err != nil || counts(r) != [3]int{1, 1, 0} || cmp.Diff(want, r.Skips) != "" {
		t.Errorf("with one that is there: %+v, %v", r, err)
	}
	// Batches tell it once.
	many(t, db, 1100)
	all := []int64{998_000_000}
	for id := ids[0]; id < ids[0]+2000; id++ {
		all = append(all, id)
	}
	r, err := deadletter.ReplayAll(ctx, db.Owner, deadletter.Filter{IDs: all}, nil, nil)
	if err != nil || r.Matched != 1102 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, s := range r.Skips {
		if s.Count < len(s.IDs) || len(s.IDs) > 1 && s.Count > len(all) {
			t.Errorf("%+v", s)
		}
		if s.Why == "it is resolved already: replayed" && s.Count != 1 {
			t.Errorf("what a batch did is told as resolved by the next: %+v", s)
		}
	}
}
