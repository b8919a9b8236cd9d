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
