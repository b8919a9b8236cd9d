package consume

import (
	"testing"
	"time"
)

func TestPausesDoubleUpToPoll(t *testing.T) {
	p := pace{poll: time.Second, pause: firstPause}
	now := time.Now()
	last := time.Duration(0)
	for i := range 12 {
		p.claimed(now, 0, false)
		wait := p.next.Sub(now)
		if i > 0 && wait < time.Second && wait != 2*last {
			t.Errorf("pause %s after %s", wait, last)
		}
		if wait > 1500*time.Millisecond {
			t.Errorf("pause %s with Poll 1s", wait)
		}
		last = wait
	}
	if last < time.Second {
		t.Errorf("last pause %s, want Poll or a little more", last)
	}
	p.claimed(now, 1, false)
	if wait := p.next.Sub(now); wait != firstPause {
		t.Errorf("pause %s after a find, want %s", wait, firstPause)
	}
	p.claimed(now, 1, true)
	if p.next.After(now) {
		t.Error("a pause although there is more")
	}
}

func TestEmittersAreAskedToCallOnlyWhileIdle(t *testing.T) {
	p := pace{poll: time.Second, pause: firstPause}
	now := time.Now()
	for range announceAt - 1 {
		p.claimed(now, 0, false)
		if p.callMe(now) {
			t.Fatal("asked too early")
		}
	}
	p.claimed(now, 0, false)
	if !p.callMe(now) {
		t.Fatal("not asked after enough empty claims")
	}
	p.announced = now
	if p.callMe(now.Add(time.Second)) {
		t.Error("asked again while the flag is up")
	}
	if !p.callMe(now.Add(announceFor / 2)) {
		t.Error("the flag is not renewed")
	}
	p.claimed(now, 5, true)
	if p.callOff(now) {
		t.Error("called off at the first event")
	}
	later := now.Add(busyFor + time.Millisecond)
	p.claimed(later, 5, true)
	if !p.callOff(later) {
		t.Error("not called off by a flood")
	}
	p.claimed(later, 0, false)
	if p.callOff(later.Add(time.Second)) {
		t.Error("called off by claims that bring nothing, slow as they are")
	}
}

func TestSweepsAreBoundedInTime(t *testing.T) {
	p := pace{poll: time.Second, pause: firstPause}
	now := time.Now()
	if !p.sweepNow(now) {
		t.Fatal("the first claim is no sweep")
	}
	p.sweptNow(now, 50*time.Millisecond, Ask{Window: 100}, Found{Looked: 3}, false)
	p.pause = time.Second // idle
	p.wake = true
	if p.sweepNow(now.Add(time.Minute)) {
		t.Error("sweeps when called")
	}
	p.wake = false
	if p.sweepNow(now.Add(sweepShare*50*time.Millisecond - time.Millisecond)) {
		t.Error("sweeping takes more than its share of the time")
	}
	if !p.sweepNow(now.Add(sweepShare * 50 * time.Millisecond)) {
		t.Error("no sweep at its time")
	}
	p.sweptNow(now, time.Hour, Ask{Window: 100}, Found{Looked: 3}, false)
	if !p.sweepNow(now.Add(sweepBackup)) {
		t.Error("a slow sweep was the last one for ever")
	}
}

// A crowd of rows that nobody here handles must not hide what is due behind it.
func TestSweepWidensAndThenWalks(t *testing.T) {
	p := pace{poll: time.Second, pause: firstPause}
	now := time.Now()
	window := 100
	for window < maxWindow {
		if p.sweptNow(now, time.Millisecond, Ask{Window: window}, Found{Looked: window}, false) {
			t.Fatalf("gave up at a window of %d", window)
		}
		if p.sweepWindow <= window {
			t.Fatalf("window %d after a full one of %d", p.sweepWindow, window)
		}
		window = p.sweepWindow
	}
	if !p.sweptNow(now, time.Millisecond, Ask{Window: window}, Found{Looked: window}, false) {
		t.Error("the largest window was full and the queue is not walked")
	}
	if p.sweepNow(now.Add(time.Hour)) {
		t.Error("a sweep in the middle of the walk")
	}
	p.claimed(now.Add(time.Second), 0, false) // the walk ends
	if p.sweepNow(now.Add(time.Second + sweepShare*time.Second - time.Millisecond)) {
		t.Error("walking takes more than a sweep's share of the time")
	}
	if !p.sweepNow(now.Add(time.Second + sweepShare*time.Second)) {
		t.Error("no sweep at its time")
	}
}

func TestBackoff(t *testing.T) {
	for n := 1; n < 100; n++ {
		if d := backoff(n); d <= 0 || d > maxBackoff {
			t.Errorf("backoff(%d) = %s", n, d)
		}
	}
}

func TestAnIdleLoopRestsWhileALookoutIsAnswered(t *testing.T) {
	p := pace{poll: time.Second, pause: firstPause}
	now := time.Now()
	idle := func() {
		for range 12 {
			p.claimed(now, 0, false)
		}
	}
	idle()
	p.announced = now
	idle()
	if wait := p.next.Sub(now); wait > 2*time.Second {
		t.Errorf("a pause of %s without a lookout", wait)
	}
	p.lookedAt(now, false)
	idle()
	if wait := p.next.Sub(now); wait < restFor {
		t.Errorf("a pause of %s with a lookout", wait)
	}
	if p.callMe(now.Add(time.Minute)) {
		t.Error("the flag is renewed twice")
	}
	p.lookedAt(now, true)
	if p.next.After(now) {
		t.Error("no claim although something is due")
	}
	if !p.sweepNow(now) {
		t.Error("the claim for what is due by time is no sweep")
	}
	idle()
	later := now.Add(lookedFor)
	p.unwatched(later)
	if p.next.After(later) || !p.callMe(later.Add(announceFor)) {
		t.Error("a lookout without an answer is trusted on")
	}
	p.announced = time.Time{}
	p.lookedAt(now, false)
	idle()
	if wait := p.next.Sub(now); wait > 2*time.Second {
		t.Errorf("a pause of %s although emitters were not asked to call", wait)
	}
}
