// holds: engines

package feed

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
)

// What was decided before is not said after what was decided since.
// holds: E5-together
func TestAnOldAnnouncementIsNotMade(t *testing.T) {
	t.Parallel()
	var said []time.Duration
	f := New(Config{Poll: time.Second, Announce: func(_ context.Context, d time.Duration) error {
		said = append(said, d)
		return nil
	}})
	f.pace.announced = time.Now()
	f.Tell(announceFor)
	f.Tell(-1) // decided before
	f.pace.announced = time.Time{}
	f.Tell(announceFor) // decided before
	f.Tell(-1)
	if want := []time.Duration{announceFor, 0}; !slices.Equal(said, want) {
		t.Errorf("the database heard %v, want %v", said, want)
	}
}

// fed makes a feed whose log and whose reports of a server that is away are kept.
func fed(t *testing.T) (f *Feed, log *strings.Builder, away *int) {
	t.Helper()
	log, away = &strings.Builder{}, new(int)
	f = New(Config{Key: "q", Poll: time.Second, Log: slog.New(slog.NewTextHandler(log, nil)), Unavailable: func(error) { *away++ }})
	return f, log, away
}

func TestFailuresBackOffAndAreSaidSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, log, away := fed(t)
		for range 100 {
			f.Failed(errors.New("no"))
			until := f.Begin(time.Now())
			if wait := time.Until(until); wait <= 0 || wait > maxBackoff {
				t.Fatalf("backs off for %s", wait)
			}
		}
		if n := strings.Count(log.String(), "trying on"); n != 1 {
			t.Errorf("%d lines about one thing", n)
		}
		if failures, err := f.Trouble(); failures != 100 || err == nil {
			t.Errorf("%d failures, the last one %v", failures, err)
		}
		f.Recovered()
		f.Recovered()
		if until := f.Begin(time.Now()); !until.IsZero() {
			t.Errorf("backs off for %s although exchanges work", time.Until(until))
		}
		if n := strings.Count(log.String(), "claiming again"); n != 1 {
			t.Errorf("%d lines about the end of it", n)
		}
		f.Failed(errors.New("no"))
		if n := strings.Count(log.String(), "trying on"); n != 2 {
			t.Errorf("%d lines about two things", n)
		}
		synctest.Wait()
		if *away != 0 {
			t.Error("an error of the database counts as a server that is away")
		}
	})
}

// A server that does not answer is away, whoever asked it.
func TestAnExchangeThatTimesOutMeansThatTheServerIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _, away := fed(t)
		ctx, cancel := f.Exchange()
		defer cancel()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != exchangeTimeout {
			t.Errorf("gave up after %s", took)
		}
		f.Failed(ctx.Err())
		synctest.Wait()
		if *away != 1 {
			t.Errorf("told %d times", *away)
		}
	})
}

// Where tables are missing, the database has answered: it is no reason to restart the process.
func TestAMissingTableIsAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, log, _ := fed(t)
		for range 3 {
			f.Failed(&nexus.Error{Op: "claim", Code: nexus.CodeQueueLost})
		}
		if !f.LastFetch().Equal(time.Now()) || f.cfg.Absence.Err() == nil {
			t.Errorf("last answered %s ago, missing: %v", time.Since(f.LastFetch()), f.cfg.Absence.Err())
		}
		f.Recovered()
		if f.cfg.Absence.Err() != nil || strings.Count(log.String(), "are missing") != 1 || strings.Count(log.String(), "are back") != 1 {
			t.Errorf("still missing: %v; the log:\n%s", f.cfg.Absence.Err(), log)
		}
	})
}

// What the lookout saw counts once somebody thinks of a claim, and not while the database is left alone.
func TestAnAnswerOfTheLookoutIsAFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _, _ := fed(t)
		f.NextAt(time.Now().Add(time.Hour))
		f.Looked(true)
		f.Wait(time.Now().Add(time.Hour)) // stirred
		f.Failed(errors.New("no"))
		f.Begin(time.Now())
		if !f.LastFetch().IsZero() {
			t.Error("it counts while the database is left alone")
		}
		f.Recovered()
		f.Begin(time.Now())
		if f.LastFetch().IsZero() || !f.Due(time.Now()) {
			t.Errorf("last fetch %s, due %v", f.LastFetch(), f.Due(time.Now()))
		}
	})
}

func TestAWakeUpMakesAClaimDueOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _, _ := fed(t)
		for range 20 {
			f.Claimed(time.Now(), 0, false)
		}
		began := time.Now()
		go f.Wake()
		f.Wait(f.Next())
		if took := time.Since(began); took != 0 {
			t.Errorf("heard after %s", took)
		}
		if !f.Due(time.Now()) {
			t.Fatal("no claim is due")
		}
		if woken, rare := f.Claiming(); !woken || !rare {
			t.Errorf("woken %v, rare %v", woken, rare)
		}
		if f.Due(time.Now()) {
			t.Error("another claim is due")
		}
		f.Wait(time.Time{})
		if took := time.Since(began); took != time.Second {
			t.Errorf("nobody stirred, and it went on after %s", took)
		}
	})
}

func TestDrainingLeavesNothingForLater(t *testing.T) {
	t.Parallel()
	f, _, _ := fed(t)
	f.Failed(errors.New("no"))
	f.Drain()
	if !f.Draining() || !f.Begin(time.Now()).IsZero() {
		t.Error("what is left to be said waits")
	}
	f.End()
	f.Failed(f.Context().Err())
	if failures, _ := f.Trouble(); failures != 0 {
		t.Error("the end counts as a failure")
	}
}
