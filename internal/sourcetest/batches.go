package sourcetest

import (
	"errors"
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/batch"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/work"
)

// BatchBench is a source of batches to be tried, with nothing in it.
type BatchBench struct {
	Source batch.Source
	Emit   func(types ...string) // puts an event of each type there, in order
	Pass   func(d time.Duration) // lets time pass
}

// RunBatches tries what batches rest on besides, each on a source of its own.
func RunBatches(t *testing.T, in func(t *testing.T, try func(t *testing.T, b BatchBench))) {
	t.Helper()
	for name, try := range map[string]func(t *testing.T, b BatchBench){
		"fewer than wanted stay":                  few,
		"locks end with their transaction":        locks,
		"results commit with the batch":           commits,
		"what failed as a whole is leased":        leasesThese,
		"a lost lease undoes the whole batch":     undoes,
		"with the turn one goes alone, or others": alones,
	} {
		t.Run(name, func(t *testing.T) { in(t, try) })
	}
}

func wanted(n int) work.Want {
	return work.Want{Types: []string{"*"}, MaxAttempts: []int{0}, Limit: n, AtLeast: 1, Anew: true, Woken: true}
}

func (b *BatchBench) lease(t *testing.T, n int, change ...func(*work.Want)) work.Got {
	t.Helper()
	want := wanted(n)
	want.Lease = leased
	for _, c := range change {
		c(&want)
	}
	got, err := b.Source.Lease(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// lock locks up to n items in an express transaction.
func (b *BatchBench) lock(t *testing.T, n int) (engine.SharedTx, []work.Item) {
	t.Helper()
	tx, err := b.Source.BeginExpress(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tx.Lock(t.Context(), wanted(n))
	if err != nil {
		t.Fatal(err)
	}
	return tx, got.Items
}

// marked is lock, with the mark that express needs.
func (b *BatchBench) marked(t *testing.T, n int) (engine.SharedTx, []work.Item) {
	t.Helper()
	tx, items := b.lock(t, n)
	if leases, err := tx.Mark(t.Context(), items); err != nil || leases {
		t.Fatalf("mark: use leases %v, %v", leases, err)
	}
	return tx, items
}

func few(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b")
	if got := b.lease(t, 10, func(w *work.Want) { w.AtLeast = 3 }); !got.Few || len(got.Items) != 0 {
		t.Errorf("claimed %q, few %v", types(got.Items), got.Few)
	}
	if got := b.lease(t, 10, func(w *work.Want) { w.AtLeast = 2 }); got.Few || types(got.Items) != "a b" {
		t.Errorf("claimed %q, few %v", types(got.Items), got.Few)
	}
}

func locks(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b", "c")
	tx, items := b.lock(t, 2)
	if types(items) != "a b" || items[0].Delivery().Attempt != 1 {
		t.Fatalf("locked %q at attempt %d", types(items), items[0].Delivery().Attempt)
	}
	other, rest := b.lock(t, 10)
	defer other.Close(t.Context())
	if types(rest) != "c" {
		t.Errorf("another one locked %q", types(rest))
	}
	tx.Close(t.Context())
	b.Source.GaveBack(items)
	tx, items = b.lock(t, 10)
	defer tx.Close(t.Context())
	if types(items) != "a b" || items[0].Delivery().Attempt != 1 {
		t.Errorf("locked %q after that", types(items))
	}
}

func commits(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b")
	tx, items := b.marked(t, 2)
	defer tx.Close(t.Context())
	if err := tx.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcomes, err := tx.Commit(t.Context(), []work.Result{
		{Item: items[0]},
		{Item: items[1], Action: work.Retry, After: time.Minute, Exact: true, Reason: work.ReasonError, Error: "boom"},
	})
	if err != nil || spelt(outcomes) != "retried" {
		t.Fatalf("outcomes %q, %v", spelt(outcomes), err)
	}
	b.Pass(time.Minute + time.Second)
	if got := b.lease(t, 2); types(got.Items) != "b" || got.Items[0].Delivery().Attempt != 2 || got.Items[0].Alone() {
		t.Errorf("after that there is %q", types(got.Items))
	}
}

func leasesThese(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b")
	tx, items := b.marked(t, 2)
	if err := tx.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Unmark(t.Context()); err != nil {
		t.Fatal(err)
	}
	tx.Close(t.Context())
	got, err := b.Source.LeaseThese(t.Context(), items, leased)
	if err != nil || types(got) != "a b" || got[0] != items[0] {
		t.Fatalf("leased %q, %v", types(got), err)
	}
	other, rest := b.lock(t, 2)
	defer other.Close(t.Context())
	if len(rest) != 0 {
		t.Errorf("another one locked %q", types(rest))
	}
	if again, err := b.Source.LeaseThese(t.Context(), items[:0], leased); err != nil || len(again) != 0 {
		t.Errorf("leased %q of none, %v", types(again), err)
	}
	if outcomes, err := b.Source.Settle(t.Context(), []work.Result{{Item: got[0]}, {Item: got[1]}}); err != nil || len(outcomes) != 0 {
		t.Errorf("outcomes %q, %v", spelt(outcomes), err)
	}
}

func undoes(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b")
	items := b.lease(t, 2).Items
	b.Pass(leased + time.Second)
	second := b.lease(t, 2, turn)
	if types(second.Items) != "a" {
		t.Fatalf("claimed %q", types(second.Items))
	}
	tx, err := b.Source.BeginShared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context(), []work.Result{{Item: items[0]}, {Item: items[1]}}); !errors.Is(err, nexus.ErrLeaseLost) {
		t.Errorf("commit: %v", err)
	}
	tx.Close(t.Context())
	if outcomes, err := b.Source.Settle(t.Context(), []work.Result{{Item: items[1]}}); err != nil || len(outcomes) != 0 {
		t.Errorf("the other one was settled: outcomes %q, %v", spelt(outcomes), err)
	}
}

func alones(t *testing.T, b BatchBench) {
	t.Helper()
	b.Emit("a", "b")
	b.lease(t, 2)
	b.Pass(leased + time.Second)
	b.Emit("c")
	if got := b.lease(t, 3); types(got.Items) != "c" || !got.Alone {
		t.Errorf("without the turn: claimed %q, some left alone %v", types(got.Items), got.Alone)
	}
	if got := b.lease(t, 3, turn); types(got.Items) != "a" || !got.Items[0].Alone() || !got.Alone {
		t.Errorf("with the turn: claimed %q", types(got.Items))
	}
}
