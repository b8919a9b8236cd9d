package places_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus/internal/places"
)

func quiet() {}

func TestOneRunnerHasAllPlaces(t *testing.T) {
	t.Parallel()
	s := places.New(3).Join(3, quiet)
	for _, c := range []struct{ want, room, held int }{{0, 3, 0}, {2, 3, 2}, {5, 3, 3}, {1, 3, 1}, {0, 3, 0}} {
		if got := s.Hold(c.want); got != c.held {
			t.Errorf("Hold(%d) is %d, want %d", c.want, got, c.held)
		}
		if got := s.Room(); got != c.room {
			t.Errorf("room for %d, want %d", got, c.room)
		}
	}
}

// What comes for all runners at once needs no second look: a claim leaves a place to each other runner, as far as there are.
func TestAClaimLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	p := places.New(4)
	a, b, c := p.Join(3, quiet), p.Join(3, quiet), p.Join(3, quiet)
	if got := a.Room(); got != 2 {
		t.Errorf("room for %d of 4 beside two others, want 2", got)
	}
	a.Hold(2)
	b.Hold(1)
	if got := c.Room(); got != 1 {
		t.Errorf("the last one cannot be had: %d", got)
	}
	c.Leave()
	if a.Hold(3); a.Room() != 3 || b.Room() != 1 {
		t.Errorf("room for %d and %d, want what they hold", a.Room(), b.Room())
	}
}

// A runner that has always more to do gives each place that gets free to who waits, and gets it back in its turn.
// holds: workers
func TestWhoWaitsIsServedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := places.New(1)
		var mu sync.Mutex
		var told []string
		join := func(name string) *places.Share {
			return p.Join(3, func() { mu.Lock(); told = append(told, name); mu.Unlock() })
		}
		names := []string{"a", "b", "c"}
		all := map[string]*places.Share{"a": join("a"), "b": join("b"), "c": join("c")}
		for _, name := range names {
			all[name].Hold(1)
		}
		for i := range 30 {
			name := names[i%3]
			for other, s := range all {
				want := 0
				if other == name {
					want = 1
				}
				if s.Held() != want {
					t.Fatalf("round %d: %s holds %d places, and it is the turn of %s", i, other, s.Held(), name)
				}
			}
			if !all[name].Others() {
				t.Fatal("nobody waits")
			}
			all[name].Done(1)
			synctest.Wait()
			mu.Lock()
			if next := names[(i+1)%3]; len(told) != i+1 || told[i] != next {
				t.Fatalf("round %d: told %v, want %s", i, told, next)
			}
			mu.Unlock()
		}
	})
}

// Who wants none any more is passed over, and what it is given back goes on.
func TestWhoHasGoneIsPassedOver(t *testing.T) {
	t.Parallel()
	p := places.New(2)
	a, b, c := p.Join(3, quiet), p.Join(3, quiet), p.Join(3, quiet)
	a.Hold(2)
	b.Hold(1)
	c.Hold(2)
	b.Hold(0)
	if !a.Others() {
		t.Error("c waits")
	}
	a.Done(0)
	if got := []int{a.Held(), b.Held(), c.Held()}; got[0] != 0 || got[1] != 0 || got[2] != 2 {
		t.Errorf("held %v, want all by the last", got)
	}
	c.Hold(0)
	if got := b.Hold(5); got != 2 {
		t.Errorf("%d of 2 places are left", got)
	}
}

func TestAllStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := places.New(2)
		a, b := p.Join(3, quiet), p.Join(3, quiet)
		a.Hold(1)
		b.Hold(1)
		a.Stick(1)
		if n, all := p.Stuck(); n != 1 || !all.IsZero() {
			t.Errorf("%d stuck, all since %v", n, all)
		}
		b.Stick(1)
		at := time.Now()
		<-time.After(time.Minute)
		if n, all := p.Stuck(); n != 2 || !all.Equal(at) {
			t.Errorf("%d stuck, all since %v", n, all)
		}
		a.Stick(-1)
		if n, all := p.Stuck(); n != 1 || !all.IsZero() {
			t.Errorf("%d stuck, all since %v", n, all)
		}
	})
}

// A runner that may have fewer handlers than there are places is stuck when those are.
func TestAllOfARunnerStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := places.New(3)
		a, b := p.Join(2, quiet), p.Join(3, quiet)
		a.Stick(1)
		b.Stick(1)
		if n, all := a.Stuck(); n != 1 || !all.IsZero() {
			t.Errorf("%d stuck of two, all since %v", n, all)
		}
		<-time.After(time.Minute)
		a.Stick(1)
		at := time.Now()
		<-time.After(time.Minute)
		if n, all := a.Stuck(); n != 2 || !all.Equal(at) {
			t.Errorf("%d stuck of two, all since %v", n, all)
		}
		if n, all := b.Stuck(); n != 1 || !all.IsZero() {
			t.Errorf("the other has %d stuck of three, all since %v", n, all)
		}
		a.Stick(-2)
		if n, all := a.Stuck(); n != 0 || !all.IsZero() {
			t.Errorf("%d stuck, all since %v", n, all)
		}
	})
}

// However many runners come and go, no more places are held than there are, and none is lost.
// holds: workers
func TestNoPlaceIsLost(t *testing.T) {
	t.Parallel()
	const total, runners, rounds = 3, 8, 2000
	p := places.New(total)
	var mu sync.Mutex
	in, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		in += n
		most = max(most, in)
	}
	var wg sync.WaitGroup
	for range runners {
		wg.Go(func() {
			kick := make(chan struct{}, 1)
			s := p.Join(3, func() {
				select {
				case kick <- struct{}{}:
				default:
				}
			})
			defer s.Leave()
			for i := range rounds {
				for s.Hold(1) == 0 {
					<-kick
				}
				count(1)
				count(-1)
				if i%2 == 0 {
					s.Done(1)
				} else {
					s.Hold(0)
				}
			}
			s.Hold(0)
		})
	}
	wg.Wait()
	if most > total {
		t.Errorf("%d places were held at once, of %d", most, total)
	}
	if got := p.Join(3, quiet).Hold(total); got != total {
		t.Errorf("%d places are left of %d", got, total)
	}
}
