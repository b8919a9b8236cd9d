// Package seldom bounds the log lines about one thing that goes on failing.
package seldom

import (
	"sync"
	"time"
)

// Every is how long a thing that goes on failing is not mentioned again.
const Every = 30 * time.Second

// Line is a line of the log about one thing. The zero value is ready; several goroutines may use it.
type Line struct {
	mu   sync.Mutex
	last time.Time
}

// Due reports whether it is time for the line, and takes it as written then.
func (l *Line) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.last.IsZero() && now.Sub(l.last) <= Every {
		return false
	}
	l.last = now
	return true
}

// Over says that the thing has ended: when it begins again that is news.
func (l *Line) Over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Time{}
}
