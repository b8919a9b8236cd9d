package node

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nexuspg/nexus/internal/feed"
)

const (
	// waitFor is how long emitters believe that a node waits; the lookout says so again well before.
	waitFor = 10 * time.Second

	lookEvery = 4 * time.Second // however long Config.Poll is
)

// lookout looks at a queue for all runners of it that have nothing to do: one small statement in place of a claim for each. It keeps
// the flag up by which emitters call, which a runner that has enough to do must not take down under another one that waits.
type lookout struct {
	poll time.Duration
	look func(ctx context.Context) (next time.Duration, err error) // how long until something is due
	flag func(ctx context.Context, d time.Duration) error          // raises the flag for d, or lowers it

	saying chan struct{} // full while the flag is set: the database must not hear last what was said first

	mu      sync.Mutex
	waiting map[int]bool  // the runners that have nothing to do, by number
	gone    map[int]bool  // that will not wait any more, whatever they still say
	changed chan struct{} // one of them began to wait
}

func newLookout(
	poll time.Duration, look func(context.Context) (time.Duration, error), flag func(context.Context, time.Duration) error,
) *lookout {
	return &lookout{poll: poll, look: look, flag: flag, saying: make(chan struct{}, 1), waiting: map[int]bool{}, gone: map[int]bool{}, changed: make(chan struct{}, 1)}
}

// announce tells the database that a runner waits for d, or no longer for zero, if it does not know.
func (l *lookout) announce(ctx context.Context, runner int, d time.Duration) error {
	l.mu.Lock()
	if l.gone[runner] {
		l.mu.Unlock()
		return nil
	}
	if d > 0 {
		l.waiting[runner] = true
		select {
		case l.changed <- struct{}{}:
		default:
		}
	} else {
		delete(l.waiting, runner)
	}
	l.mu.Unlock()
	select {
	case l.saying <- struct{}{}:
		defer func() { <-l.saying }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if waits := len(l.who()) > 0; waits != (d > 0) {
		return nil // another one waits, or nobody does any more
	}
	return l.flag(ctx, d)
}

func (l *lookout) who() (waiting []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for runner := range l.waiting {
		waiting = append(waiting, runner)
	}
	return waiting
}

// leave says that a runner waits no more. If nobody does, the flag goes down by itself, soon.
func (l *lookout) leave(runner int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone[runner] = true
	delete(l.waiting, runner)
}

// run looks while somebody waits, until ctx ends. tell says to a runner whether something is due; failed hears of errors. Nobody is told
// then, and runners look for themselves, at once where tables are missing.
func (l *lookout) run(ctx context.Context, tell func(runner int, due bool), failed func(error)) {
	for ctx.Err() == nil {
		waiting := l.who()
		if len(waiting) == 0 {
			if !pause(ctx, l.changed, longestIdle) {
				return
			}
			continue
		}
		began := time.Now()
		next, err := l.look(ctx)
		took := time.Since(began)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			failed(err)
			if feed.QueueLost(err) {
				// Runners are to find out themselves, and soon.
				for _, runner := range waiting {
					tell(runner, true)
				}
			}
		} else {
			for _, runner := range waiting {
				tell(runner, next <= 0)
			}
		}
		// Nodes that went idle together must not stay in step. Looks that take long, past dead rows, are rare ones.
		rest := max(min(l.poll+l.poll/2+rand.N(l.poll), lookEvery), min(promoteRest*took, longestRest))
		if err == nil && next > 0 && next < rest {
			if !pause(ctx, nil, next) {
				return
			}
			for _, runner := range l.who() {
				tell(runner, true)
			}
			rest -= next
		}
		if !pause(ctx, nil, rest) {
			return
		}
	}
}
