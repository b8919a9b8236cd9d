package batch

import (
	"testing"
	"time"
)

// holds: H3-span
func TestSpanGrowsWhileHandlersAreQuick(t *testing.T) {
	s := newSpan(100, true)
	s.committed(60, 0, time.Millisecond)
	if s.now != 100 {
		t.Errorf("%d after a transaction that was not full, want 100", s.now)
	}
	for _, want := range []int{200, 400, 800, 1000, 1000} {
		if s.committed(s.now, 0, time.Millisecond); s.now != want {
			t.Errorf("%d after a quick one, want %d", s.now, want)
		}
	}
	if s.committed(1000, 0, quickSpan); s.now != 1000 {
		t.Errorf("%d after one that was neither quick nor slow, want 1000", s.now)
	}
	if s.committed(1000, 0, time.Second); s.now != 500 {
		t.Errorf("%d after a slow one, want 500", s.now)
	}
	if s.committed(200, 3, time.Millisecond); s.now != 250 {
		t.Errorf("%d after failures, want 250", s.now)
	}
	if s.committed(200, 3, time.Millisecond); s.now != 125 {
		t.Errorf("%d after more of them, want 125", s.now)
	}
	if s.committed(125, 3, time.Millisecond); s.now != 100 {
		t.Errorf("%d, want no less than a call's 100", s.now)
	}
}

// What comes to nothing runs again one by one, so it must not be large each time.
// holds: H3-span
func TestSpanStaysSmallAfterOneThatCameToNothing(t *testing.T) {
	s := newSpan(100, true)
	s.committed(100, 0, time.Millisecond)
	s.undone()
	for i := range calmAfter {
		if s.now != 100 {
			t.Fatalf("%d after %d that went well, want 100", s.now, i)
		}
		s.committed(100, 0, time.Millisecond)
	}
	if s.now != 200 {
		t.Errorf("%d after %d that went well, want 200", s.now, calmAfter)
	}
}

// holds: H3-span
func TestSpanIsWhatWasAskedFor(t *testing.T) {
	s := newSpan(40, false)
	if s.committed(40, 0, time.Millisecond); s.now != 40 {
		t.Errorf("%d, want 40", s.now)
	}
}
