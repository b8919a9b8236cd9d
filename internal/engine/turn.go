package engine

import "sync"

// Turn is taken by whoever of a node has an item in hand that may have killed a process before. There is one at a time, so that its
// next death counts for it alone.
type Turn struct {
	mu      sync.Mutex
	taken   bool
	waiting map[any]func()
}

// Take reports whether the caller has the turn now.
func (t *Turn) Take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true
	return true
}

// Free gives the turn back and lets those know who wait for it.
func (t *Turn) Free() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = false
	t.call()
}

// Await has who's wake called in a goroutine of its own, once, as soon as the turn is free.
func (t *Turn) Await(who any, wake func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = map[any]func(){}
	}
	t.waiting[who] = wake
	if !t.taken {
		t.call()
	}
}

func (t *Turn) call() {
	for who, wake := range t.waiting {
		delete(t.waiting, who)
		go wake()
	}
}
