package pgmqueue

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// Two loops of a node are woken by the same event, and look at it in the same moment. A look of the one that locks it hides it from the
// other, which then rests. A window of more than twice the limit locks only what is taken.
func TestAnIdleEngineLocksNothingOfOthers(t *testing.T) {
	window := func(w *walk, limit int, lone bool) int {
		return w.begin(time.Now(), &work.Want{Limit: limit}, limit, lone).window
	}
	for _, limit := range []int{1, 50, 200, 10_000} {
		if got := window(new(walk), limit, true); got <= 2*limit && got != widest {
			t.Errorf("one that expects few looks at %d for a limit of %d", got, limit)
		}
	}
	// What is in hand is hidden, and a wide window counts it.
	if got := window(new(walk), 100, false); got != 100 {
		t.Errorf("a busy one looks at %d for a limit of 100", got)
	}
	flooded := new(walk)
	flooded.floor("").ahead = 1
	if got := window(flooded, 100, true); got != 100 {
		t.Errorf("with more to come it looks at %d for a limit of 100", got)
	}
}

// What has to go alone and is left, since something else of the node has the turn, is looked for again when the turn is free, however far
// the walk has gone meanwhile.
// holds: alone-left
func TestAWalkComesBackForWhatItLeftAlone(t *testing.T) {
	w := new(walk)
	now := time.Now()
	want := &work.Want{Limit: 10, Woken: true}
	a := w.begin(now, want, 10, false)
	w.end(now, a, &seen{alone: 3, leftAlone: 5, looked: 100, scannedTo: 104})
	now = now.Add(2 * lateCommit)
	if a := w.begin(now, want, 10, false); a.floor <= 5 {
		t.Fatalf("the walk goes on at %d: nothing was left behind", a.floor)
	}
	w.back()
	if a := w.begin(now, want, 10, false); a.floor > 5 {
		t.Errorf("the walk goes on at %d, beyond what was left", a.floor)
	}
}

// Work begins anew for each item: what was given back at once lies below the floor.
func TestAWalkBeginsAnew(t *testing.T) {
	w := new(walk)
	now := time.Now()
	w.end(now, w.begin(now, &work.Want{Limit: 1, Woken: true}, 1, false), found(50))
	now = now.Add(2 * lateCommit)
	if a := w.begin(now, &work.Want{Limit: 1, Woken: true}, 1, false); a.floor != 50 {
		t.Fatalf("the walk goes on at %d, want 50", a.floor)
	}
	if a := w.begin(now, &work.Want{Limit: 1, Woken: true, Anew: true}, 1, false); a.floor != 0 || a.sweep {
		t.Errorf("anew it begins at %d, sweep %v", a.floor, a.sweep)
	}
}

// Where a limit leaves room for fewer than were asked for, the next claim goes on behind the last one taken: nothing in between was of no
// interest.
// holds: C4 (a node waits)
func TestWalkBesideALimit(t *testing.T) {
	var w walk
	now := time.Now()
	want := &work.Want{Limit: 100, Woken: true}
	a := w.begin(now, want, 100, false)
	s := found(10, 11, 12)
	s.limited, s.granted, s.looked, s.scannedTo, s.HeldBack = true, 3, 100, 109, work.HeldInFlight
	if w.end(now, a, s) {
		t.Error("there is more, for which there is no room")
	}
	if from, _ := w.floor("").from(now, 100); from != 13 {
		t.Errorf("goes on at %d, want 13", from)
	}
	a = w.begin(now, want, 100, false)
	if w.end(now, a, &seen{limited: true}) {
		t.Error("there is more, for which there is no room")
	}
	if from, _ := w.floor("").from(now, 100); from != 13 {
		t.Errorf("after a claim that looked at nothing it goes on at %d, want 13", from)
	}
}
