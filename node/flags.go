package node

import (
	"sync"
	"time"
)

// flags joins the wishes of runners that share a queue: one that has enough to do must not take the flag down by which emitters
// wake another one.
type flags struct {
	mu      sync.Mutex
	waiting map[int]time.Time // until when, by runner
}

// change notes that a runner waits for d, or no longer for zero, and reports whether the database has to know.
func (f *flags) change(runner int, d time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d > 0 {
		f.waiting[runner] = time.Now().Add(d)
		return true
	}
	delete(f.waiting, runner)
	for _, until := range f.waiting {
		if time.Now().Before(until) {
			return false
		}
	}
	return true
}
