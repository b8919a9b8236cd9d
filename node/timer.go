package node

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	timersKey = "timers" // wakes nodes that sleep until something is due, when something comes up before that

	fireEvery   = time.Second     // at most; a task of "@every 1s" needs no more
	longestIdle = 5 * time.Second // a wake-up that is lost costs as much
)

// timer fires what is due on a schedule, in every namespace: any node does it for all, and the database sees to it that each slot
// fires once. pg_cron comes once a minute at best, and not every server has it.
func (r *run) timer(ctx context.Context) {
	var said time.Time
	for {
		began := time.Now()
		next, err := r.member.Fire(ctx)
		if err != nil {
			next = longestIdle
			if ctx.Err() == nil {
				r.unavailable(err)
				if time.Since(said) > sayEvery {
					said = time.Now()
					r.Logger.Warn("cannot fire what is due on schedule, trying on", "error", err)
				}
			}
		}
		next = min(next, longestIdle-rand.N(longestIdle/10))
		if next > fireEvery-time.Since(began) && !pause(ctx, r.due, next) {
			return
		}
		if !pause(ctx, nil, fireEvery-time.Since(began)) {
			return
		}
	}
}

// wakeTimer makes the timer look now, and whoever promotes what was delayed.
func (r *run) wakeTimer() {
	wakeUp(r.due)
	wakeUp(r.delayedDue)
}
