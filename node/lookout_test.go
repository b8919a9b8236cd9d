package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// told is what a lookout said, and when, from its start.
type told struct {
	at  time.Duration
	due bool
}

// watch runs a lookout for so long with one runner that waits.
func watch(t *testing.T, long time.Duration, look func(at time.Duration) (time.Duration, error)) (said []told, looks int, failures int) {
	t.Helper()
	start := time.Now()
	l := newLookout(time.Second, func(context.Context) (time.Duration, error) {
		looks++
		return look(time.Since(start))
	}, func(context.Context, time.Duration) error { return nil })
	if err := l.announce(t.Context(), 0, waitFor); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	l.run(ctx, func(_ int, due bool) { said = append(said, told{time.Since(start), due}) }, func(error) { failures++ })
	return said, looks, failures
}

// holds: E5-idle
func TestLookoutLooksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, looks, _ := watch(t, 100*time.Second, func(time.Duration) (time.Duration, error) { return time.Hour, nil })
		if looks < 40 || looks > 67 {
			t.Errorf("%d looks in 100 s", looks)
		}
		for _, s := range said {
			if s.due {
				t.Fatalf("told at %s that something is due", s.at)
			}
		}
	})
}

// holds: E5-idle
func TestLookoutTellsWhatIsDueAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const at = 20_700 * time.Millisecond
		said, _, _ := watch(t, 30*time.Second, func(now time.Duration) (time.Duration, error) {
			if now < at {
				return at - now, nil
			}
			return time.Hour, nil
		})
		for _, s := range said {
			if s.due && s.at != at {
				t.Errorf("told at %s, due at %s", s.at, at)
			}
			if s.due {
				return
			}
		}
		t.Error("never told")
	})
}

func TestLookoutSaysNothingWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, looks, failures := watch(t, 20*time.Second, func(time.Duration) (time.Duration, error) { return 0, errors.New("away") })
		if len(said) > 0 || failures != looks || looks < 5 {
			t.Errorf("said %v; %d of %d looks failed", said, failures, looks)
		}
	})
}

// Looks that take long, past a million dead rows, come seldom.
func TestLookoutRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, looks, _ := watch(t, 100*time.Second, func(time.Duration) (time.Duration, error) {
			<-time.After(100 * time.Millisecond) // of the clock of synctest
			return time.Hour, nil
		})
		if looks > 20 {
			t.Errorf("%d looks of 100 ms in 100 s", looks)
		}
	})
}

func TestTheFlagStaysWhileOneRunnerWaits(t *testing.T) {
	var raised []time.Duration
	l := newLookout(time.Second, nil, func(_ context.Context, d time.Duration) error {
		raised = append(raised, d)
		return nil
	})
	for _, c := range []struct {
		runner int
		d      time.Duration
		told   int
	}{{0, waitFor, 1}, {1, waitFor, 2}, {0, 0, 2}, {1, 0, 3}} {
		if err := l.announce(t.Context(), c.runner, c.d); err != nil {
			t.Fatal(err)
		}
		if len(raised) != c.told {
			t.Errorf("runner %d, %s: the database was told %d times, want %d", c.runner, c.d, len(raised), c.told)
		}
	}
}

// A statement that lowers the flag may take long, on a busy server; meanwhile somebody begins to wait.
// holds: E5-together
func TestTheFlagIsUpForWhoBeganToWaitLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up time.Duration
		l := newLookout(time.Second, nil, func(_ context.Context, d time.Duration) error {
			if d == 0 {
				<-time.After(100 * time.Millisecond) // of the clock of synctest
			}
			up = d
			return nil
		})
		say := func(runner int, d time.Duration) {
			if err := l.announce(t.Context(), runner, d); err != nil {
				t.Error(err)
			}
		}
		say(0, waitFor)
		go say(0, 0)
		<-time.After(10 * time.Millisecond)
		say(1, waitFor)
		<-time.After(time.Second)
		if up != waitFor {
			t.Errorf("the flag is up for %s under a runner that waits", up)
		}
	})
}
