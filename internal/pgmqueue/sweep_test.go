package pgmqueue

import (
	"testing"
	"time"
)

func TestSweepsAreBoundedInTime(t *testing.T) {
	var s sweep
	now := time.Now()
	if !s.due(now, false, false) {
		t.Fatal("the first claim is no sweep")
	}
	s.done(now, 50*time.Millisecond, 100, 3, false)
	if s.due(now.Add(time.Minute), true, true) {
		t.Error("sweeps when called")
	}
	if s.due(now.Add(sweepShare*50*time.Millisecond-time.Millisecond), false, true) {
		t.Error("sweeping takes more than its share of the time")
	}
	if !s.due(now.Add(sweepShare*50*time.Millisecond), false, true) {
		t.Error("no sweep at its time")
	}
	s.done(now, time.Hour, 100, 3, false)
	if !s.due(now.Add(sweepBackup), false, true) {
		t.Error("a slow sweep was the last one for ever")
	}
}

// A crowd of rows that nobody here handles must not hide what is due behind it.
func TestSweepWidensAndThenWalks(t *testing.T) {
	var s sweep
	now := time.Now()
	window := 100
	for window < maxWindow {
		if s.done(now, time.Millisecond, window, window, false) {
			t.Fatalf("gave up at a window of %d", window)
		}
		if s.window <= window {
			t.Fatalf("window %d after a full one of %d", s.window, window)
		}
		window = s.window
	}
	if !s.done(now, time.Millisecond, window, window, false) {
		t.Error("the largest window was full and the queue is not walked")
	}
	if s.due(now.Add(time.Hour), false, true) {
		t.Error("a sweep in the middle of the walk")
	}
	s.reached(now.Add(time.Second)) // the walk ends
	if s.due(now.Add(time.Second+sweepShare*time.Second-time.Millisecond), false, true) {
		t.Error("walking takes more than a sweep's share of the time")
	}
	if !s.due(now.Add(time.Second+sweepShare*time.Second), false, true) {
		t.Error("no sweep at its time")
	}
}
