package pgmqueue

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

func found(ids ...int64) *seen {
	f := &seen{Got: work.Got{Items: make([]work.Item, len(ids))}, looked: len(ids)}
	if n := len(ids); n > 0 {
		f.lowest, f.highest, f.scannedTo = ids[0], ids[n-1], ids[n-1]
	}
	return f
}

func TestFloorTrailsBehindLateCommits(t *testing.T) {
	var f floor
	now := time.Now()
	if from, window := f.from(now, 10); from != 0 || window != minWindow {
		t.Errorf("starts at %d with a window of %d", from, window)
	}
	f.found(now, 10, 100, found(50, 60))
	f.found(now.Add(100*time.Millisecond), 10, 100, found(40)) // committed later than 50
	if from, _ := f.from(now.Add(lateCommit-time.Millisecond), 10); from != 0 {
		t.Errorf("floor %d before its time", from)
	}
	f.found(now.Add(time.Second), 10, 100, found(100))
	if from, _ := f.from(now.Add(lateCommit), 10); from != 40 {
		t.Errorf("floor %d, want 40", from)
	}
	if from, _ := f.from(now.Add(time.Second+lateCommit), 10); from != 100 {
		t.Errorf("floor %d, want 100", from)
	}
	if from, _ := f.from(now.Add(time.Hour), 10); from != 100 {
		t.Errorf("floor %d after an idle hour, want 100", from)
	}
}

func TestFullBatchAsksForMore(t *testing.T) {
	var f floor
	if !f.found(time.Now(), 2, 100, found(1, 2)) {
		t.Error("a full batch must be followed by another look")
	}
	if f.found(time.Now(), 2, 100, found(1)) {
		t.Error("a batch that was not full, of a window that was not, leaves nothing")
	}
}

func TestWindowsOfForeignTypesAreWalkedThrough(t *testing.T) {
	var f floor
	now := time.Now()
	foreign := func(to int64, n int) *seen { return &seen{looked: n, scannedTo: to} }
	last := 0
	for i := int64(1); i <= 5; i++ {
		_, window := f.from(now, 10)
		if window < last || window > maxWindow {
			t.Errorf("window %d after %d", window, last)
		}
		last = window
		if !f.found(now, 10, window, foreign(i*1000, window)) {
			t.Fatal("the walk stopped in the middle")
		}
		if from, _ := f.from(now, 10); from != i*1000+1 {
			t.Errorf("goes on at %d, want %d", from, i*1000+1)
		}
	}
	if last != maxWindow {
		t.Errorf("window %d, want it to grow to %d", last, maxWindow)
	}
	if f.found(now, 10, maxWindow, foreign(6000, 1)) {
		t.Error("more to look at after the end of the queue")
	}
	if from, window := f.from(now.Add(lateCommit/2), 10); from != 5001 || window != minWindow {
		t.Errorf("from %d with window %d; want 5001, so that the crowd is not walked through again", from, window)
	}
}

// A window holds no more than the limit, and some foreign rows in it change nothing: the rest is in the next one.
func TestAFewForeignTypes(t *testing.T) {
	var f floor
	now := time.Now()
	_, window := f.from(now, 200)
	if window != 200 {
		t.Fatalf("window %d for a limit of 200: the others would be locked for nothing", window)
	}
	if !f.found(now, 200, window, &seen{Got: work.Got{Items: make([]work.Item, 150)}, looked: 200, lowest: 10, highest: 300, scannedTo: 310}) {
		t.Error("a full window must be followed by another look")
	}
	if from, window := f.from(now, 200); from != 311 || window != 200 {
		t.Errorf("from %d with window %d, want 311 with 200", from, window)
	}
	now = now.Add(walkEvery)
	if from, window := f.from(now, 200); from != 0 || window != 200 {
		t.Errorf("from %d with window %d, want 0 with 200: late commits would be left to the sweep", from, window)
	}
	f.found(now, 200, 200, &seen{Got: work.Got{Items: make([]work.Item, 149)}, looked: 200, lowest: 10, highest: 300, scannedTo: 310})
	if from, window := f.from(now, 200); from != 311 || window != 800 {
		t.Errorf("from %d with window %d, want 311 with 800", from, window)
	}
}

// With many foreign rows in a window that gave a full batch, rows of interest may follow the last one taken.
func TestCursorStopsAtTheLastRowTaken(t *testing.T) {
	var f floor
	now := time.Now()
	f.found(now, 2, 5000, &seen{Got: work.Got{Items: make([]work.Item, 2)}, looked: 5000, lowest: 10, highest: 20, scannedTo: 5000})
	if from, _ := f.from(now, 2); from != 21 {
		t.Errorf("goes on at %d, want 21", from)
	}
}

func TestLowerAndRestart(t *testing.T) {
	var f floor
	now := time.Now()
	f.found(now, 2, 100, found(100))
	now = now.Add(lateCommit)
	f.lower(7)
	if from, _ := f.from(now, 2); from != 7 {
		t.Errorf("floor %d, want 7", from)
	}
	f.restart(now)
	if from, window := f.from(now, 2); from != 0 || window != maxWindow {
		t.Errorf("from %d with window %d, want a walk from the start", from, window)
	}
}

// Walking over what was deleted in the last two seconds costs more than the claim itself.
func TestFullClaimsGoOnWhereTheyEnded(t *testing.T) {
	var f floor
	now := time.Now()
	f.from(now, 2)
	f.found(now, 2, 100, found(10, 20))
	if from, _ := f.from(now.Add(walkEvery-time.Millisecond), 2); from != 21 {
		t.Errorf("goes on at %d, want 21", from)
	}
	if from, _ := f.from(now.Add(walkEvery), 2); from != 0 {
		t.Errorf("after %s it starts at %d, want the floor: someone may have committed late", walkEvery, from)
	}
	f.found(now.Add(walkEvery), 2, 100, found(30, 40))
	f.lower(30)
	if from, _ := f.from(now.Add(walkEvery+1), 2); from != 0 {
		t.Errorf("after events were given back it starts at %d, want the floor", from)
	}
	f.found(now.Add(walkEvery+1), 2, 100, found(30))
	if from, _ := f.from(now.Add(walkEvery+2), 2); from != 0 {
		t.Errorf("after a claim that was not full it starts at %d, want the floor", from)
	}
}

// What is left of levels that there were lies above all ids to come: the floor stays below those, and so does the walk once it has seen what
// is left.
// holds: levels
func TestTheFloorStaysInItsLevel(t *testing.T) {
	for _, start := range []int64{0, levelSpan} {
		f, now, left := &floor{start: start, base: start}, time.Now(), start+levelSpan
		f.found(now, 10, 100, found(left+5))
		f.found(now.Add(markEvery), 10, 100, &seen{looked: 1, scannedTo: left + 5})
		now = now.Add(2 * lateCommit)
		if from, _ := f.from(now, 10); from != start {
			t.Errorf("floor %d, want %d: new ids are found by sweeps alone", from, start)
		}
		f.found(now, 10, 100, found(start+50, left+6))
		now = now.Add(2 * lateCommit)
		if from, _ := f.from(now, 10); from != start+50 {
			t.Errorf("floor %d, want %d", from, start+50)
		}
		// A claim that took all it could goes on behind it. Where that ends, something new may have come meanwhile.
		if !f.found(now, 2, 100, found(left+7, left+8)) {
			t.Error("a full batch must be followed by another look")
		}
		if from, _ := f.from(now, 2); from != left+9 {
			t.Errorf("goes on at %d, want %d", from, left+9)
		}
		if !f.found(now, 2, 100, &seen{}) {
			t.Error("it rests where nothing new will be")
		}
		if from, _ := f.from(now, 2); from != start+50 {
			t.Errorf("goes on at %d, want %d", from, start+50)
		}
		if f.found(now, 2, 100, &seen{}) {
			t.Error("it looks again, with nothing there")
		}
	}
}

// A crowd of no interest that is left of levels that there were is walked through, for what may lie behind it, but not by each claim, nor does the
// walk wait behind it.
// holds: levels
func TestACrowdThatLevelsLeft(t *testing.T) {
	const crowd, behind = 20_000, levelSpan + 20_001
	var f floor
	now := time.Now()
	claims, taken := 0, false
	walk := func() {
		claims, taken = 0, false
		for more := true; more; claims++ {
			if claims == 100 {
				t.Fatal("it goes on for ever")
			}
			from, window := f.from(now, 10)
			first := max(from, levelSpan+1)
			s := &seen{looked: int(min(int64(window), max(behind-first, 0)))}
			if s.looked > 0 {
				s.scannedTo = first + int64(s.looked) - 1
			}
			if s.looked < window && !taken && from <= behind {
				s.looked, s.lowest, s.highest, s.scannedTo, taken = s.looked+1, behind, behind, behind, true
				s.Items = make([]work.Item, 1)
			}
			more = f.found(now, 10, window, s)
		}
		if from, _ := f.from(now, 10); from != 0 {
			t.Fatalf("after %d claims it waits at %d, want 0", claims, from)
		}
	}
	walk()
	if !taken || claims < crowd/maxWindow {
		t.Errorf("taken %v after %d claims", taken, claims)
	}
	now = now.Add(lateCommit - 1)
	if walk(); taken || claims != 1 {
		t.Errorf("taken %v after %d claims: it walked through all of it again", taken, claims)
	}
	f.restart(now)
	if walk(); !taken {
		t.Error("a walk from the start does not come to the end")
	}
	now = now.Add(lateCommit)
	if walk(); !taken {
		t.Error("it does not walk through it any more")
	}
}
