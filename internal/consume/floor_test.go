package consume

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/work"
)

func found(ids ...int64) Found {
	f := Found{Items: make([]work.Item, len(ids)), Looked: len(ids)}
	if n := len(ids); n > 0 {
		f.Lowest, f.Highest, f.ScannedTo = ids[0], ids[n-1], ids[n-1]
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
	foreign := func(to int64, n int) Found { return Found{Looked: n, ScannedTo: to} }
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
	if !f.found(now, 200, window, Found{Items: make([]work.Item, 150), Looked: 200, Lowest: 10, Highest: 300, ScannedTo: 310}) {
		t.Error("a full window must be followed by another look")
	}
	if from, window := f.from(now, 200); from != 311 || window != 200 {
		t.Errorf("from %d with window %d, want 311 with 200", from, window)
	}
	now = now.Add(walkEvery)
	if from, window := f.from(now, 200); from != 0 || window != 200 {
		t.Errorf("from %d with window %d, want 0 with 200: late commits would be left to the sweep", from, window)
	}
	f.found(now, 200, 200, Found{Items: make([]work.Item, 149), Looked: 200, Lowest: 10, Highest: 300, ScannedTo: 310})
	if from, window := f.from(now, 200); from != 311 || window != 800 {
		t.Errorf("from %d with window %d, want 311 with 800", from, window)
	}
}

// With many foreign rows in a window that gave a full batch, rows of interest may follow the last one taken.
func TestCursorStopsAtTheLastRowTaken(t *testing.T) {
	var f floor
	now := time.Now()
	f.found(now, 2, 5000, Found{Items: make([]work.Item, 2), Looked: 5000, Lowest: 10, Highest: 20, ScannedTo: 5000})
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

// Two loops of a node are woken by the same event, and look at it in the same moment. A look of the one that locks it hides it from the
// other, which then rests. A window of more than twice the limit locks only what is taken.
func TestAnIdleLoopLocksNothingOfOthers(t *testing.T) {
	idle := func() *Loop {
		return &Loop{Config: Config{Turn: new(Turn)}, Feed: feed.New(feed.Config{Poll: time.Second}), patterns: []string{"a"}}
	}
	for _, workers := range []int{1, 50, 200, 10_000} {
		a, _, _ := idle().ask(time.Now(), workers)
		if a.Window <= 2*workers && a.Window != widest {
			t.Errorf("%d idle workers look at %d", workers, a.Window)
		}
	}
	// What is in hand is hidden, and a wide window counts it.
	busy := idle()
	busy.running = 100
	if a, _, _ := busy.ask(time.Now(), 100); a.Window != 100 {
		t.Errorf("busy workers look at %d for a limit of 100", a.Window)
	}
	flooded := idle()
	flooded.walk.floor("").ahead = 1
	if a, _, _ := flooded.ask(time.Now(), 100); a.Window != 100 {
		t.Errorf("with more to come they look at %d for a limit of 100", a.Window)
	}
}
