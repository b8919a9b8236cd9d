package node

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a runner that does nothing.
type fake struct {
	key     string
	fetched time.Time
	woken   int
	stopped bool
}

func (f *fake) Hears(key string) bool       { return key == f.key }
func (f *fake) Wake()                       { f.woken++ }
func (f *fake) LastFetch() time.Time        { return f.fetched }
func (f *fake) Stuck() (n int, _ time.Time) { return 0, time.Time{} }
func (f *fake) Stop(context.Context)        { f.stopped = true }

// Whoever has to do with all runners has to do with those that there are now.
//
// holds: N1-changes
func TestRunnersMayChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := newRunners()
		old, idle, young := &fake{key: "q", fetched: time.Now()}, &fake{key: "other"}, &fake{key: "q", fetched: time.Now().Add(time.Hour)}
		rs.add(old)
		rs.add(idle)
		<-time.After(time.Hour)
		if got := time.Since(rs.lastFetch()); got != time.Hour {
			t.Errorf("last fetch %s ago", got)
		}
		rs.wake("q")
		var ended bool
		if !rs.swap([]runner{young}, map[runner]func(context.Context){old: func(end context.Context) { <-end.Done(); ended = true }}) {
			t.Fatal("not swapped")
		}
		rs.wake("q")
		rs.wake("")
		if old.woken != 1 || idle.woken != 1 || young.woken != 2 {
			t.Errorf("woken %d, %d, %d times", old.woken, idle.woken, young.woken)
		}
		if got := time.Since(rs.lastFetch()); got != 0 {
			t.Errorf("last fetch %s ago, of one that leaves or does not fetch", got)
		}
		grace, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		rs.stop(grace)
		if took := time.Since(began); !ended || took != time.Minute {
			t.Errorf("stopped after %s, what leaves has ended: %v", took, ended)
		}
		if old.stopped || !idle.stopped || !young.stopped {
			t.Errorf("stopped %v, %v, %v", old.stopped, idle.stopped, young.stopped)
		}
		if rs.add(old) {
			t.Error("one is added to what has stopped")
		}
	})
}
