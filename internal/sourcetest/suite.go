package sourcetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/work"
)

// Bench is a source to be tried, with nothing in it.
type Bench struct {
	Source consume.Source
	Emit   func(types ...string) // puts an event of each type there, in order
	Pass   func(d time.Duration) // lets time pass
}

const leased = 30 * time.Second

// Run tries what every engine rests on, each on a source of its own.
func Run(t *testing.T, in func(t *testing.T, try func(t *testing.T, b Bench))) {
	t.Helper()
	for name, try := range map[string]func(t *testing.T, b Bench){
		"claims in order, what is asked for":           claims,
		"a claim hides":                                hides,
		"an ack removes, once":                         acks,
		"failures come again, or are given up":         settles,
		"a result that comes too late changes nothing": fences,
		"a renewed lease lasts":                        extends,
		"results go with a claim":                      exchanges,
		"what was never answered goes alone":           alone,
		"an ended context is an error":                 ends,
	} {
		t.Run(name, func(t *testing.T) { in(t, try) })
	}
}

// claim takes up to n items, wherever they lie.
func (b *Bench) claim(t *testing.T, n int, change ...func(*work.Want)) work.Got {
	t.Helper()
	return b.exchange(t, nil, n, change...)
}

func (b *Bench) exchange(t *testing.T, results []work.Result, n int, change ...func(*work.Want)) work.Got {
	t.Helper()
	want := work.Want{Types: []string{"*"}, MaxAttempts: []int{0}, Limit: n, Lease: leased}
	for _, c := range change {
		c(&want)
	}
	found, err := b.Source.Claim(t.Context(), results, want)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (b *Bench) settle(t *testing.T, results ...work.Result) string {
	t.Helper()
	outcomes, err := b.Source.Settle(t.Context(), results)
	if err != nil {
		t.Fatal(err)
	}
	return spelt(outcomes)
}

// spelt are the kinds of outcomes, sorted.
func spelt(outcomes []work.Outcome) string {
	var all []string
	for _, o := range outcomes {
		all = append(all, string(o.Kind))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// types are those of items, in order.
func types(items []work.Item) string {
	var all []string
	for _, it := range items {
		all = append(all, it.Delivery().Type)
	}
	return strings.Join(all, " ")
}

// anew looks from the start, wherever other claims have got to.
func anew(w *work.Want) { w.Anew, w.Woken = true, true }

// turn says that one of those may come that go alone.
func turn(w *work.Want) { w.Alone = true }

func claims(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("a.1", "b.1", "a.2", "a.3")
	some := func(w *work.Want) { w.Types, w.Key = []string{"a.*"}, "a.*" }
	got := b.claim(t, 2, some)
	if types(got.Items) != "a.1 a.2" || !got.More || got.Buried != 0 || got.Alone || got.Few {
		t.Errorf("claimed %q: %+v", types(got.Items), got)
	}
	if got = b.claim(t, 10, some); types(got.Items) != "a.3" {
		t.Errorf("a second claim brought %q", types(got.Items))
	}
	if got = b.claim(t, 10); types(got.Items) != "b.1" {
		t.Errorf("a claim for all brought %q", types(got.Items))
	}
	if got = b.claim(t, 10, anew); len(got.Items) != 0 || got.More {
		t.Errorf("nothing is left: %q, more %v", types(got.Items), got.More)
	}
}

func hides(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("x")
	first := b.claim(t, 1).Items
	if len(first) != 1 || first[0].Delivery().Attempt != 1 || first[0].Alone() || first[0].Acked() || first[0].Due().IsZero() {
		t.Fatalf("claimed %+v", first)
	}
	b.Pass(leased - time.Second)
	if again := b.claim(t, 1, anew, turn).Items; len(again) != 0 {
		t.Error("claimed again under its lease")
	}
	b.Pass(2 * time.Second)
	// That it died in company counts for nobody; from then on it counts for the one that goes alone.
	for attempt := 1; attempt <= 2; attempt++ {
		again := b.claim(t, 1, anew, turn).Items
		if len(again) != 1 || again[0].Delivery().Attempt != attempt || !again[0].Alone() {
			t.Fatalf("after its lease: %d claimed, want attempt %d", len(again), attempt)
		}
		b.Pass(leased + time.Second)
	}
	if d := first[0].Handed(true); d == first[0].Delivery() || d.MessageID != first[0].Delivery().MessageID {
		t.Error("what is handed out is not a copy")
	}
}

func acks(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("x", "x")
	items := b.claim(t, 2).Items
	done := []work.Result{{Item: items[0]}, {Item: items[1]}}
	if got := b.settle(t, done...); got != "" {
		t.Errorf("outcomes %q", got)
	}
	if got := b.settle(t, done...); got != "gone gone" {
		t.Errorf("sent again: outcomes %q", got)
	}
	b.Pass(time.Hour)
	if found := b.claim(t, 2, anew, turn); len(found.Items) != 0 {
		t.Error("they are still there")
	}
}

func settles(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("retry", "release", "reject")
	items := b.claim(t, 3).Items
	results := []work.Result{
		{Item: items[0], Action: work.Retry, After: time.Minute, Exact: true, Reason: work.ReasonError, Error: "boom"},
		{Item: items[1], Action: work.Release, After: time.Minute, Reason: "no room"},
		{Item: items[2], Action: work.Reject, Reason: "bad", Error: "bad"},
	}
	if got := b.settle(t, results...); got != "buried released retried" {
		t.Errorf("outcomes %q", got)
	}
	b.Pass(time.Minute - time.Second)
	if found := b.claim(t, 3, anew); len(found.Items) != 0 {
		t.Errorf("before their time: %q", types(found.Items))
	}
	b.Pass(2 * time.Second)
	found := b.claim(t, 3, anew)
	var got []string
	for _, it := range found.Items {
		d := it.Delivery()
		got = append(got, fmt.Sprintf("%s %d %d %v", d.Type, d.Attempt, d.Deferrals, it.Alone()))
	}
	if want := []string{"retry 2 0 false", "release 1 1 false"}; !slices.Equal(got, want) {
		t.Errorf("type, attempt, deferrals, alone: %q, want %q", got, want)
	}
}

func fences(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("x")
	first := b.claim(t, 1).Items[0]
	b.Pass(leased + time.Second)
	second := b.claim(t, 1, anew, turn).Items[0]
	for _, a := range []work.Action{work.Ack, work.Retry, work.Reject, work.Release} {
		if got := b.settle(t, work.Result{Item: first, Action: a, Reason: "late"}); got != "lost" {
			t.Errorf("%s too late: outcomes %q", a, got)
		}
	}
	if lost, err := b.Source.Extend(t.Context(), []work.Item{first}, leased); err != nil || len(lost) != 1 || lost[0] != first {
		t.Errorf("lost %v: %v", lost, err)
	}
	if got := b.settle(t, work.Result{Item: second}); got != "" {
		t.Errorf("whose it is: outcomes %q", got)
	}
	if got := b.settle(t, work.Result{Item: first}); got != "gone" {
		t.Errorf("after that: outcomes %q", got)
	}
}

func extends(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("x", "y")
	items := b.claim(t, 2).Items
	for range 3 {
		b.Pass(leased - time.Second)
		if lost, err := b.Source.Extend(t.Context(), items[:1], leased); err != nil || len(lost) != 0 {
			t.Fatalf("lost %v: %v", lost, err)
		}
	}
	if found := b.claim(t, 2, anew, turn); types(found.Items) != "y" {
		t.Errorf("claimed %q, want what was not renewed", types(found.Items))
	}
	if got := b.settle(t, work.Result{Item: items[0]}); got != "" {
		t.Errorf("outcomes %q", got)
	}
}

func exchanges(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("a", "b", "c")
	items := b.claim(t, 2).Items
	found := b.exchange(t, []work.Result{
		{Item: items[0]},
		{Item: items[1], Action: work.Retry, After: time.Hour, Exact: true, Reason: work.ReasonError, Error: "boom"},
	}, 2)
	if types(found.Items) != "c" || spelt(found.Outcomes) != "retried" || found.Outcomes[0].Item != items[1] || found.Outcomes[0].Reason != work.ReasonError {
		t.Errorf("claimed %q, outcomes %+v", types(found.Items), found.Outcomes)
	}
}

func alone(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("a", "b", "c")
	b.claim(t, 2)
	b.Pass(leased + time.Second)
	found := b.claim(t, 3, anew)
	if types(found.Items) != "c" || !found.Alone {
		t.Errorf("claimed %q, some left alone %v", types(found.Items), found.Alone)
	}
	b.Source.TurnFree()
	found = b.claim(t, 3, turn)
	if types(found.Items) != "a" || !found.Items[0].Alone() {
		t.Errorf("with the turn: claimed %q", types(found.Items))
	}
}

func ends(t *testing.T, b Bench) {
	t.Helper()
	b.Emit("x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Source.Claim(ctx, nil, work.Want{Types: []string{"*"}, MaxAttempts: []int{0}, Limit: 1, Lease: leased}); err == nil {
		t.Error("a claim went well")
	}
	if found := b.claim(t, 1); len(found.Items) != 1 {
		t.Error("it is not there any more")
	}
}
