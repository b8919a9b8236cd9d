// holds: engines

package feed

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

// holds: E5-together
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
	for range 10 {
		later = later.Add(gapFor + time.Millisecond)
		p.claiming(later)
		p.claimed(later, 1, false)
		if p.callOff(later) {
			t.Fatal("called off by events that come one by one, between which it rests")
		}
	}
}

// holds: E5-idle (who is called no more looks by itself)
func TestWhoCallsOffLooksAtOnce(t *testing.T) {
	f := New(Config{Poll: time.Second})
	now := time.Now()
	f.pace.announced, f.pace.busy, f.pace.looked = now.Add(-time.Minute), now.Add(-time.Second), now
	f.Claimed(now, 1, false)
	if f.Announcement(now) >= 0 || !f.Due(now) {
		t.Errorf("called off, and the next claim is in %s", f.Next().Sub(now))
	}
}

func TestBackoff(t *testing.T) {
	for n := 1; n < 100; n++ {
		if d := Backoff(n); d <= 0 || d > maxBackoff {
			t.Errorf("Backoff(%d) = %s", n, d)
		}
	}
}

// holds: E5-idle
func TestAnIdleEngineRestsWhileALookoutIsAnswered(t *testing.T) {
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
	if wait := p.next.Sub(now); wait > 2*time.Second {
		t.Errorf("a pause of %s although an emitter may have looked before it was asked to call, and not committed yet", wait)
	}
	now = now.Add(doubtFor)
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
	if !p.rare() {
		t.Error("the claim for what is due by time is not one of few, which sweep")
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

// holds: C4 (a node waits)
func TestHeldBackByALimit(t *testing.T) {
	now := time.Now()
	p := pace{poll: time.Second, pause: firstPause}
	for range 10 {
		p.heldBack(now, 0, 0)
		if p.next.After(now.Add(time.Second)) || p.next.Before(now.Add(firstPause)) {
			t.Errorf("looks again after %s", p.next.Sub(now))
		}
		p.wake = true
		if now = p.next.Add(-time.Millisecond); p.due(now) {
			t.Error("a call is listened to though there is no room")
		}
		p.wake = false
		now = p.next
		if !p.due(now) {
			t.Error("does not look again")
		}
	}
	if took := p.next.Sub(now) + p.pause; took < time.Second {
		t.Errorf("goes on at a pause of %s, want 1 s", took)
	}
	if p.callMe(now) {
		t.Error("asks to be called, though there is enough to do")
	}
	p.heldBack(now, 3, 0)
	if p.freed(now); !p.due(now) {
		t.Error("what is settled makes no room")
	}

	p.heldBack(now, 0, time.Hour)
	p.freed(now)
	p.lookedAt(now, true)
	if p.due(now) || !p.due(now.Add(time.Second)) {
		t.Error("a rate is waited for a second at most, whatever is settled or due")
	}
	p.heldBack(now, 1, time.Microsecond)
	if p.due(now.Add(shortestHold-1)) || !p.due(now.Add(shortestHold)) {
		t.Error("a rate that leaves room at once is waited for a moment, so that there is room for some")
	}
}
